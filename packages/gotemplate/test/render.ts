// Renders a case with this package and returns the result in the format of the oracle.
import { TemplateError, goTime, parse } from '../src/index.ts'
import type { Case, Outcome } from './oracle/oracle.ts'
import { hostFunctions } from './seven.ts'

const budget = { steps: 10_000_000, outputBytes: 1 << 26, depth: 200 }

export function render({ template, data, builtins, functions, missingKey, time }: Case): Outcome {
  try {
    const parsed = parse(template, {
      name: 'main',
      builtins: builtins ?? true,
      functions: functions === true ? hostFunctions : {},
      missingKey,
    })
    const withTime =
      time === undefined ? data : { ...(data as object), [time.key]: goTime(new Date(time.ms)) }
    return { output: parsed.execute(withTime, budget) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { output: error.output, phase: error.phase, error: error.message }
  }
}
