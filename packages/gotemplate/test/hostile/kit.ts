// Helpers for the tests of hostile templates.
import { TemplateError, parse } from '../../src/index.ts'

const numbers = Array.from({ length: 1_000_000 }, (_, index) => index)

/** Data with large values of every kind. */
export const data = {
  numbers,
  text: 'x'.repeat(100_000),
  wide: Object.fromEntries(numbers.slice(0, 20_000).map((index) => [`key${index}`, index])),
  list: numbers.slice(0, 1000),
}

/**
 * Renders a template with the large data. Returns the TemplateError, or null if there is none. Other errors
 * are rethrown.
 */
export function attempt(template: string, budget = {}): TemplateError | null {
  try {
    parse(template).execute(data, budget)
    return null
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
}

export const repeat = (piece: string, count: number): string => piece.repeat(count)
