// Selects values of a response with a JSONPath expression (RFC 9535).
import type { JsonValue } from 'jsonpath-rfc9535'
import { Failure } from '../failures.ts'

/** Returns the values that an expression selects. */
export type Select = (value: unknown) => unknown[]

const maxLength = 1_000
// These functions take a regular expression, which could block the process for a long time.
const patternFunctions: ReadonlySet<unknown> = new Set(['match', 'search'])

/** Compiles an expression. The library is loaded here, because few commands need it. */
export async function createSelect(expression: string): Promise<Select> {
  const [{ query }, { default: parse }] = await Promise.all([
    import('jsonpath-rfc9535'),
    import('jsonpath-rfc9535/parser'),
  ])
  if (expression.length > maxLength)
    throw new Failure('usage', `The expression has more than ${maxLength} characters.`)
  try {
    rejectPatterns(parse(expression))
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('usage', `${expression} is not a JSONPath expression: ${(error as Error).message}`)
  }
  return (value) => query(value as JsonValue, expression)
}

function rejectPatterns(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node && node.type === 'FunctionExpr' && 'name' in node && patternFunctions.has(node.name))
    throw new Failure('usage', `The function ${String(node.name)} is not supported.`)
  for (const nested of Object.values(node)) rejectPatterns(nested)
}
