// Settings of every throttle (`throttles.<name>.*`), and the limits built from them. Each feature adds the settings of
// its throttles to its own table.
import { type Setting, integer, defineSetting } from './readers.ts'

type SettingNames<Name extends string> = `${Name}Throttle${'Failures' | 'WindowMs' | 'BlockMs'}`
type ThrottleDefaults = {
  failures: number
  windowMs: number
  blockMs: number
  /** Describes, for the documentation, which failures are counted and what a block does. */
  doc: { failures: string; block: string }
}

const failureCount = integer(1, 100_000)
const milliseconds = integer(100, 86_400_000)

/** Declares a time setting of a throttle, such as `throttles.machine.max_block_ms`. */
export const defineThrottleTime = (name: string, fallback: number, doc: string) =>
  defineSetting(milliseconds, {
    key: `throttles.${name}`,
    env: `SVC_THROTTLES_${name.toUpperCase().replaceAll('.', '_')}`,
    default: fallback,
    doc,
  })

/** Declares the settings for the number of failures, the window and the block time of a throttle. */
export function defineThrottleSettings<const Name extends string>(
  name: Name,
  { failures, windowMs, blockMs, doc }: ThrottleDefaults,
): Record<SettingNames<Name>, Setting<number, false>> {
  const settings = {
    [`${name}ThrottleFailures`]: defineSetting(failureCount, {
      key: `throttles.${name}.failures`,
      env: `SVC_THROTTLES_${name.toUpperCase()}_FAILURES`,
      default: failures,
      doc: doc.failures,
    }),
    [`${name}ThrottleWindowMs`]: defineThrottleTime(
      `${name}.window_ms`,
      windowMs,
      'Time window in which failures are counted.',
    ),
    [`${name}ThrottleBlockMs`]: defineThrottleTime(`${name}.block_ms`, blockMs, doc.block),
  }
  return settings as Record<SettingNames<Name>, Setting<number, false>>
}

/** Returns the limits of a throttle, as configured. Block times grow up to `maxBlockMs`. */
export function readThrottleLimits<Name extends string>(
  name: Name,
  values: Readonly<Record<SettingNames<Name>, number>>,
  maxBlockMs?: number,
) {
  const getValue = (part: 'Failures' | 'WindowMs' | 'BlockMs'): number => values[`${name}Throttle${part}`]
  const blockMs = getValue('BlockMs')
  return {
    failures: getValue('Failures'),
    windowMs: getValue('WindowMs'),
    blockMs,
    maxBlockMs: maxBlockMs ?? blockMs,
  }
}
