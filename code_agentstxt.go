package lookleap

// Codes of AGENTS.TXT.
var agentstxtCodes = map[Code]string{}
