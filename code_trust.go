package lookleap

// Codes of ANML trust delegation.
var trustCodes = map[Code]string{}
