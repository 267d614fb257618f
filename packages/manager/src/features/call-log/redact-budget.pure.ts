// The budget limits the work of redacting one body, its headers or its URL. It counts values instead of time,
// so that the result does not depend on the machine load.

export type Budget = { readonly limit: number; spent: number }

/** The context that every body parser receives. */
export type RedactionContext = {
  /** Whether the text is only the first part of the body. */
  isTruncated: boolean
  /** Counts a value. Throws if the budget is exceeded. */
  spend: () => void
  /** Redacts text that is embedded in the current text, such as JSON in a JSON string. */
  redactInner: (text: string) => string
}

// 64 KiB of records contain about 6,000 values.
const maxValues = 10_000

/** One error object is reused, so that throwing it does not capture a stack trace. */
const budgetError = new Error('the text has too many values to redact')

export const createBudget = (): Budget => ({ limit: maxValues, spent: 0 })

/** Counts values. Throws if the budget is exceeded. */
export function spend(budget: Budget, count = 1): void {
  if (budget.spent + count > budget.limit) throw budgetError
  budget.spent += count
}

/** Returns the result of `show`, or `otherwise` if the budget is exceeded. */
export function runWithinBudget<T, U>(show: () => T, fallback: U): T | U {
  try {
    return show()
  } catch (error) {
    if (error !== budgetError) throw error
    return fallback
  }
}

/** Returns the result of `parse`, or null if the text cannot be parsed. */
export function tryParse<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch (error) {
    if (error === budgetError) throw error
    return null
  }
}
