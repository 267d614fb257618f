// Settings of every throttle (`throttles.<name>.*`), and the limits built from them. A feature adds them to its table.
import { type Setting, integer, setting } from './readers.ts'

type Names<Name extends string> = `${Name}Throttle${'Failures' | 'WindowMs' | 'BlockMs'}`
type Defaults = {
  failures: number
  windowMs: number
  blockMs: number
  /** Documentation texts: which failures count, and the effect of a block. */
  doc: { failures: string; block: string }
}

const count = integer(1, 100_000)
const milliseconds = integer(100, 86_400_000)

/** Declares a time setting of a throttle, such as `throttles.machine.max_block_ms`. */
export const throttleTime = (name: string, fallback: number, doc: string) =>
  setting(milliseconds, {
    key: `throttles.${name}`,
    env: `SVC_THROTTLES_${name.toUpperCase().replaceAll('.', '_')}`,
    default: fallback,
    doc,
  })

/** Declares the number of failures, the window and the block time of a throttle. */
export function throttleSettings<const Name extends string>(
  name: Name,
  { failures, windowMs, blockMs, doc }: Defaults,
): Record<Names<Name>, Setting<number, false>> {
  const own = {
    [`${name}ThrottleFailures`]: setting(count, {
      key: `throttles.${name}.failures`,
      env: `SVC_THROTTLES_${name.toUpperCase()}_FAILURES`,
      default: failures,
      doc: doc.failures,
    }),
    [`${name}ThrottleWindowMs`]: throttleTime(
      `${name}.window_ms`,
      windowMs,
      'Time window in which failures are counted.',
    ),
    [`${name}ThrottleBlockMs`]: throttleTime(`${name}.block_ms`, blockMs, doc.block),
  }
  return own as Record<Names<Name>, Setting<number, false>>
}

/** Returns the limits of a throttle from its setting values; blocks grow only up to `maxBlockMs`. */
export function throttleLimits<Name extends string>(
  name: Name,
  values: Readonly<Record<Names<Name>, number>>,
  maxBlockMs?: number,
) {
  const of = (part: 'Failures' | 'WindowMs' | 'BlockMs'): number => values[`${name}Throttle${part}`]
  const blockMs = of('BlockMs')
  return {
    failures: of('Failures'),
    windowMs: of('WindowMs'),
    blockMs,
    maxBlockMs: maxBlockMs ?? blockMs,
  }
}
