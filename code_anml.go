package lookleap

// Codes of ANML documents and agents.
var anmlCodes = map[Code]string{}
