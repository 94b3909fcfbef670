package lookleap

// Codes of the ai: URI scheme.
var aiuriCodes = map[Code]string{}
