// Keys that have a meaning of their own to the service. What they hold is checked when it is saved, so that a mistake
// shows to whoever makes it and not to whoever loads a page. Pure.
import type { KeyValuePair } from '../../platform/key-value-pairs.ts'

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const maxNameLength = 214
const number = '(?:0|[1-9]\\d*)'
const preRelease = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)'
const exactVersion = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-${preRelease}(?:\\.${preRelease})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
)
const maxVersionLength = 256
const maxPinsLength = 65_536

const problems: Record<string, (value: string) => string | null> = {
  'comms.enabled': (value) =>
    value === 'true' || value === 'false' ? null : 'comms.enabled must be "true" or "false"',
  'pilets.pins': problemOfPins,
}

/** What is wrong with the reserved keys among these pairs, in words; null when nothing is. */
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
    if (name.length > maxNameLength || !packageName.test(name))
      return `pilets.pins names ${JSON.stringify(name.slice(0, maxNameLength))}, which is no package name`
    if (typeof version !== 'string' || version.length > maxVersionLength || !exactVersion.test(version))
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
