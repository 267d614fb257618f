// These keys have a special meaning to the service. Their values are checked on save. A mistake is therefore reported
// to its author, not to the user who loads a page.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { isExactVersion, isPackageName, maxNameLength } from '../../platform/inputs/packages.ts'

export const pinsKey = 'pilets.pins'
const maxPinsLength = 65_536
const problems: Record<string, (value: string) => string | null> = {
  'comms.enabled': (value) =>
    value === 'true' || value === 'false' ? null : 'comms.enabled must be "true" or "false"',
  [pinsKey]: findPinsProblem,
}

/** Returns whether the key is effective only in the frontend part. */
export const isFrontendKey = (key: string): boolean => key === pinsKey

/** Returns an error message for the first invalid reserved key, or null if all are valid. */
export function findReservedKeyProblem(pairs: readonly KeyValuePair[]): string | null {
  for (const { Key, Value } of pairs) {
    const problem = Object.hasOwn(problems, Key) ? problems[Key]?.(Value) : null
    if (typeof problem === 'string') return problem
  }
  return null
}

function findPinsProblem(value: string): string | null {
  if (value.length > maxPinsLength) return `pilets.pins must have at most ${maxPinsLength} characters`
  const pins = parseObject(value)
  if (pins === null)
    return 'pilets.pins must be a JSON object that maps pilet names to exact versions, such as {"@acme/menu": "1.2.3"}'
  for (const [name, version] of Object.entries(pins)) {
    if (!isPackageName(name))
      return `pilets.pins contains ${JSON.stringify(name.slice(0, maxNameLength))}, which is not a package name`
    if (typeof version !== 'string' || !isExactVersion(version))
      return `pilets.pins must map ${name} to an exact version such as "1.2.3"`
  }
  return null
}

/** Parses a string as a JSON object. Returns null if it is not a JSON object. */
export function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
