/** Returns the noun with its indefinite article. */
export const addArticle = (noun: string): string => `${/^(?!use)[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`

/** Returns the number with its noun, such as "1 step" or "2 steps". */
export const formatCount = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`
