// Ids of the API.

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns whether a text is an id of the API. */
export const isUuid = (text: string): boolean => uuidPattern.test(text)
