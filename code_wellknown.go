package lookleap

// Codes of RFC 8615.
var wellknownCodes = map[Code]string{}
