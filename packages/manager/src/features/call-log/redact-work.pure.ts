// How much work it may be to redact one text. Steps are counted instead of time, so that what the log shows does not
// depend on how busy the machine is. Every scanner pays for what it does, a step for about a nanosecond. Pure.

export type Work = { readonly limit: number; spent: number }

const stepsPerCharacter = 55
// Short texts may be nested too.
const extraCharacters = 10_000
// What texts inside of the text leave to the text itself.
const reserved = 0.2

/** Shared, so that throwing it costs no stack trace. */
const tooComplex = new Error('the text is too complex to redact')

/** Stands for what was not judged. */
export const notJudged = '[not kept: too complex to redact]'

/** The work that may be spent on this many characters: on 64 KiB some five milliseconds. */
export const createWork = (characters: number): Work => ({
  limit: (characters + extraCharacters) * stepsPerCharacter,
  spent: 0,
})

/** Pays for steps; throws when there is nothing left for them. */
export type Spend = (steps: number) => void

/** Texts inside of a text may not spend all of its work, so that the rest of it can still be judged. */
export function spender(work: Work, isNested: boolean): Spend {
  const limit = limitOf(work, isNested)
  return (steps) => {
    work.spent += steps
    if (work.spent > limit) throw tooComplex
  }
}

const limitOf = ({ limit }: Work, isNested: boolean): number => (isNested ? limit * (1 - reserved) : limit)

/** Whether nothing is left for texts inside of the text. */
export const isSpent = (work: Work): boolean => work.spent > limitOf(work, true)

/** What `judge` returns, or `otherwise` when that is too much work. */
export function within<T, U>(judge: () => T, otherwise: U): T | U {
  try {
    return judge()
  } catch (error) {
    if (error !== tooComplex) throw error
    return otherwise
  }
}
