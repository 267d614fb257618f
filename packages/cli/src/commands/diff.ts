// diff: shows the differences between a file and the Manager, and exits with 1 if there are any.
import type { Command } from 'commander'
import { type PlanOptions, addPlanOptions, readPlan } from '../apply/plan-options.ts'
import { formatChangeLines } from '../apply/change-lines.ts'
import { serializeStep, showStep } from '../apply/show-plan.ts'
import type { Step } from '../apply/step.ts'
import { createPaint } from '../colors.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure, exitCodes } from '../failures.ts'
import { getOutcome } from '../outcomes.ts'
import { serialize } from '../output.ts'
import { escapeControlCharacters } from '../printable.ts'
import type { Terminal } from '../terminal.ts'

export function addDiffCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'diff',
    summary: 'Show the differences between a file and the Manager.',
    description:
      'Show the differences between a file for svc apply and the Manager. Changes nothing. Exits with 0 if there are no differences, with 1 if there are, and with another code after an error. With --prune, objects that are missing in the file count as differences.',
    examples: ['diff -f shop.yaml', 'diff -f shop.yaml --prune', 'diff -f - --output json < shop.yaml'],
  })
  addPlanOptions(command)
  setAction<PlanOptions>(command, terminal, diff)
}

async function diff(context: Context, _args: string[], options: PlanOptions): Promise<void> {
  const { terminal, format } = context
  const steps = await readPlan(context, options, { isPreview: true }).catch((error: unknown) => {
    throw toFailureWithoutDifference(error, context)
  })
  const differences = steps.filter(({ action }) => action !== 'unchanged')
  if (format === 'table') for (const step of differences) showDifference(terminal, step)
  else
    terminal.stdout.write(
      serialize({ differs: differences.length > 0, steps: differences.map(serializeStep) }, format),
    )
  // The output is the message, so the failure has none.
  if (differences.length > 0) throw new Failure('failed', '')
}

/** Gives a rejected request the exit code 2, because the exit code 1 means that there are differences. */
function toFailureWithoutDifference(error: unknown, { signal }: Context): unknown {
  const { exitCode, text } = getOutcome(error, signal)
  return exitCode === exitCodes.failed ? new Failure('usage', text) : error
}

function showDifference(terminal: Terminal, step: Step): void {
  const paint = createPaint(terminal, terminal.stdout)
  showStep(terminal, step, paint)
  const colors = { '-': 'red', '+': 'green' } as const
  for (const change of step.changes)
    for (const line of formatChangeLines(step.action, change)) {
      const text = escapeControlCharacters(line)
      const mark = line.startsWith('  ') ? line[2] : undefined
      terminal.stdout.write(`    ${mark === '-' || mark === '+' ? paint(colors[mark], text) : text}\n`)
    }
}
