// Compares this package with Go on one case. Skips known differences, such as features that the installed Go lacks.
import { type Case, type Oracle, type Outcome } from '../oracle/oracle.ts'
import { render } from '../render.ts'

type Verdict = 'agrees' | 'disagrees' | 'skipped'

export interface Comparison {
  readonly verdict: Verdict
  readonly go: Outcome
  readonly here: Outcome
}

/** Renders the case with Go and with this package. */
export async function compare(oracle: Pick<Oracle, 'ask'>, request: Case): Promise<Comparison> {
  const go = await oracle.ask(request)
  const here = render(request)
  if (go.output === here.output && go.phase === here.phase) return { verdict: 'agrees', go, here }
  return { verdict: isKnown(request, go, here) ? 'skipped' : 'disagrees', go, here }
}

/** Returns whether the difference is intended. The README lists all intended differences. */
function isKnown({ template }: Case, go: Outcome, here: Outcome): boolean {
  const [goError, error] = [go.error ?? '', here.error ?? '']
  return (
    // Go before 1.22 does not range over integers, and Go before 1.23 does not support `else with`.
    /range can't iterate over (-?\d+|[A-Z][a-z]+)$/.test(goError) ||
    goError.includes('unexpected <with> in else') ||
    // Go before 1.20 assigns to the variables declared last instead of the named variables.
    /\brange\s+\$\w*(\s*,\s*\$\w*)?\s*=/.test(template) ||
    error.includes('imaginary constants are not supported') ||
    // Addresses and budgets are specific to this package.
    here.output.includes('c000000000') ||
    error.includes('budget') ||
    error.includes('nested too deeply')
  )
}
