// Keys with a special meaning to the service. Their values are checked when they are saved, so that the author of a
// mistake sees it, not the user who loads a page. Pure.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import { isExactVersion, isPackageName, maxNameLength } from '../../platform/inputs/packages.ts'

const maxPinsLength = 65_536
const problems: Record<string, (value: string) => string | null> = {
  'comms.enabled': (value) =>
    value === 'true' || value === 'false' ? null : 'comms.enabled must be "true" or "false"',
  'pilets.pins': problemOfPins,
}

/** Whether the key is read from the frontend part only. */
export const isFrontendKey = (key: string): boolean => key === 'pilets.pins'

/** What is wrong with the reserved keys among these pairs, as a text; null when nothing is. */
export function problemOfReservedKeys(pairs: readonly KeyValuePair[]): string | null {
  for (const { Key, Value } of pairs) {
    const problem = Object.hasOwn(problems, Key) ? problems[Key]?.(Value) : null
    if (typeof problem === 'string') return problem
  }
  return null
}

function problemOfPins(value: string): string | null {
  if (value.length > maxPinsLength) return `pilets.pins must have at most ${maxPinsLength} characters`
  const pins = parseObject(value)
  if (pins === null)
    return 'pilets.pins must be a JSON object from pilet names to exact versions, such as {"@acme/menu": "1.2.3"}'
  for (const [name, version] of Object.entries(pins)) {
    if (!isPackageName(name))
      return `pilets.pins names ${JSON.stringify(name.slice(0, maxNameLength))}, which is no package name`
    if (typeof version !== 'string' || !isExactVersion(version))
      return `pilets.pins must give ${name} an exact version such as "1.2.3"`
  }
  return null
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
