// How much the log reads of one body, its headers or its address. Values are counted, not time, so that the same body
// shows the same on a busy machine. Pure.

export type Budget = { readonly limit: number; spent: number }

/** What every parser of a body receives. */
export type Look = {
  /** Whether the body went on behind the text. */
  isCut: boolean
  /** Counts a value; throws when there were too many. */
  spend: () => void
  /** Shows a text that was inside this one, such as JSON in a JSON string. */
  inside: (text: string) => string
}

// 64 KiB of records hold about 6,000 values.
const maxValues = 10_000

/** Shared, so that throwing it costs no stack trace. */
const overBudget = new Error('the text has too many values to redact')

export const createBudget = (): Budget => ({ limit: maxValues, spent: 0 })

/** Counts values; throws when there were too many. */
export function spend(budget: Budget, count = 1): void {
  if (budget.spent + count > budget.limit) throw overBudget
  budget.spent += count
}

/** Returns what `show` returns, or `otherwise` when that takes more than the budget. */
export function within<T, U>(show: () => T, otherwise: U): T | U {
  try {
    return show()
  } catch (error) {
    if (error !== overBudget) throw error
    return otherwise
  }
}

/** Returns what `parse` returns, or null when the text does not parse. */
export function parsed<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    if (error === overBudget) throw error
    return null
  }
}
