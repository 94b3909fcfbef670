package anmltrust_test
var cacheRows, choiceRows, queryRows, manifestRows, listingRows, severalRows []rowTest
