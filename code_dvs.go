package lookleap

// Codes of Domain-Verified Skills.
var dvsCodes = map[Code]string{}
