// apply: makes the Manager match the state that a file declares. It shows a plan first, and deletes only with --prune.
import type { Command } from 'commander'
import { type PlanOptions, addPlanOptions, readPlan } from '../apply/plan-options.ts'
import { countDeletions, formatStep, serializeStep, showPlan } from '../apply/show-plan.ts'
import type { Step } from '../apply/step.ts'
import { confirm } from '../confirm.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printRemark, serialize } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { formatCount } from '../words.ts'

type Options = PlanOptions & { plan?: boolean; yes?: boolean }

export function addApplyCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'apply',
    summary: 'Apply a YAML file that declares the desired state.',
    description:
      'Apply a YAML file that declares projects, tenants, apps, machine users, endpoints, triggers and settings. The command shows a plan and asks for confirmation. It deletes objects only with --prune. A second run changes nothing.',
    examples: [
      'apply -f shop.yaml --plan',
      'apply -f shop.yaml',
      'apply -f shop.yaml --prune',
      'apply -f shop.yaml --yes --tokens-dir tokens',
    ],
  })
  addPlanOptions(command)
    .option('--plan', 'show the plan without changing anything')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--secrets', 'send the passwords and tokens of endpoints again')
  setAction<Options>(command, terminal, apply)
}

async function apply(context: Context, _args: string[], options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const steps = await readPlan(context, options, { isPreview: false })
  const pendingSteps = steps.filter(({ action }) => action !== 'unchanged')
  if (format === 'table') showPlan(terminal, steps)
  else if (options.plan === true)
    terminal.stdout.write(serialize({ steps: steps.map(serializeStep) }, format))
  if (options.plan === true) return
  if (pendingSteps.length > 0) {
    await confirm(terminal, createQuestion(pendingSteps), options.yes === true)
    await runSteps(terminal, pendingSteps, signal)
  }
  if (format !== 'table')
    terminal.stdout.write(
      serialize({ steps: steps.map(serializeStep), applied: pendingSteps.length }, format),
    )
  else
    terminal.stdout.write(
      pendingSteps.length === 0
        ? 'Nothing to do.\n'
        : `Applied ${formatCount(pendingSteps.length, 'step')}.\n`,
    )
}

function createQuestion(steps: readonly Step[]): string {
  const deletions = countDeletions(steps)
  const suffix = deletions === 0 ? '' : ` and delete ${formatCount(deletions, 'object')}`
  return `Apply ${formatCount(steps.length, 'step')}${suffix}?`
}

/** Runs the steps one at a time. An interrupt takes effect after the running step has finished. */
async function runSteps(terminal: Terminal, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  for (const [doneCount, step] of steps.entries()) {
    const progress = `completed ${doneCount} of ${steps.length} steps. Run the command again to resume.`
    if (signal.aborted) throw new Failure(getFailureKind(signal), `Interrupted: ${progress}`)
    try {
      await step.run()
    } catch (error) {
      printRemark(terminal, `${step.kind} ${step.path} failed; ${progress}`)
      throw error
    }
    printRemark(terminal, `${formatStep(step)}: done`)
  }
}

/** Returns the failure kind, because Ctrl-C and SIGTERM have different exit codes. */
const getFailureKind = ({ reason }: AbortSignal): Failure['kind'] =>
  reason instanceof Failure ? reason.kind : 'interrupted'
