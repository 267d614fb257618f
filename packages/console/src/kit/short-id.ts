/** Returns the first and the last characters of a long id. */
export const shortenId = (id: string): string => (id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-5)}`)
