import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../config/config.ts'
import { type RunOperations, createRunOperations } from '../features/triggers/run-operations.service.ts'
import type { ListedRun } from '../features/triggers/run-operations.store.ts'
import { createAudit } from '../platform/audit/append.ts'
import { createJobs } from '../platform/jobs/jobs.ts'
import { commandConfig, withDatabase } from './context.ts'
import { table } from './table.ts'
import type { Terminal } from './terminal.ts'

const outcomes = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
  'skipped_no_backend',
  'skipped_overlap',
  'missed',
]
const maxListed = 1_000

const limit = (text: string): number => {
  const count = Number(text)
  if (!/^\d{1,4}$/.test(text) || count < 1 || count > maxListed)
    throw new InvalidArgumentError(`give a number from 1 to ${maxListed}`)
  return count
}

/** manager triggers … */
export function addTriggerCommands(program: Command, terminal: Terminal): void {
  const triggers = program
    .command('triggers')
    .description('Look at the runs of triggers, and deliver one again.')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- triggers runs --outcome failed
  $ npm run manager -- triggers retry 0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10`,
    )

  addRunsCommand(triggers, terminal)
  addRetryCommand(triggers, terminal)
}

function addRunsCommand(triggers: Command, terminal: Terminal): void {
  triggers
    .command('runs')
    .description('List runs, those planned last first: when, of what, how they ended and why.')
    .option('--trigger <id>', 'only runs of this trigger')
    .addOption(new Option('--outcome <outcome>', 'only runs with this outcome').choices(outcomes))
    .option('--limit <number>', `how many, 1 to ${maxListed}`, limit, 50)
    .option('--json', 'print one JSON object per run instead of a table')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run manager -- triggers runs
  $ npm run manager -- triggers runs --outcome failed --json`,
    )
    .action(
      async (
        options: { trigger?: string; outcome?: string; limit: number; json?: boolean },
        command: Command,
      ) => {
        const { trigger = null, outcome = null } = options
        const runs = await withRuns(commandConfig(terminal, command), (all) =>
          all.list({ trigger, outcome, limit: options.limit }),
        )
        if (options.json === true) for (const run of runs) terminal.say(asJson(run))
        else if (runs.length > 0)
          for (const line of table(
            [
              'PLANNED',
              'PROJECT',
              'APPLICATION',
              'ENVIRONMENT',
              'TRIGGER',
              'OUTCOME',
              'ATTEMPTS',
              'ANSWER',
              'RUN',
            ],
            runs.map((run) => [
              run.scheduledAt,
              run.project,
              run.application,
              run.environment,
              run.trigger,
              run.outcome,
              String(run.attempts),
              run.failure ?? String(run.responseStatus ?? ''),
              run.id,
            ]),
          ))
            terminal.say(line)
        if (runs.length === 0) terminal.warn('no run was found')
      },
    )
}

function addRetryCommand(triggers: Command, terminal: Terminal): void {
  triggers
    .command('retry')
    .description('Deliver a failed run again, with all its attempts, under the same id.')
    .argument('<run>', 'the id of the run, as `manager triggers runs` prints it')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run manager -- triggers retry 0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10',
    )
    .action(async (id: string, _options, command: Command) => {
      const run = await withRuns(commandConfig(terminal, command), (all) => all.retry(id))
      terminal.say(`the run of ${run.triggerName} planned for ${run.scheduledAt} is delivered again`)
    })
}

const asJson = ({ scheduledAt, responseStatus, ...run }: ListedRun): string =>
  JSON.stringify({ ...run, scheduled_at: scheduledAt, response_status: responseStatus })

const withRuns = <T>(config: Config, work: (runs: RunOperations) => Promise<T>): Promise<T> =>
  withDatabase(config, ({ db, clock, runForJobs }) =>
    work(createRunOperations({ db, jobs: createJobs({ run: runForJobs }), audit: createAudit(clock) })),
  )
