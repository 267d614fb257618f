import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Config } from '../config/config.ts'
import { type RunOperations, createRunOperations } from '../features/triggers/run-operations.service.ts'
import type { ListedRun } from '../features/triggers/run-operations.store.ts'
import { createAudit } from '../platform/audit/append.ts'
import { createJobs } from '../platform/jobs/jobs.ts'
import { loadCommandConfig, withDatabase } from './context.ts'
import { formatTableLines } from './table.ts'
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

const parseLimit = (text: string): number => {
  const count = Number(text)
  if (!/^\d{1,4}$/.test(text) || count < 1 || count > maxListed)
    throw new InvalidArgumentError(`Use a number from 1 to ${maxListed}.`)
  return count
}

/** Adds the `manager triggers` commands. */
export function addTriggerCommands(program: Command, terminal: Terminal): void {
  const triggers = program
    .command('triggers')
    .description('Inspect trigger runs, and retry a run.')
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
    .description('List runs, newest first, with time, trigger, outcome and reason.')
    .option('--trigger <id>', 'only runs of this trigger')
    .addOption(new Option('--outcome <outcome>', 'only runs with this outcome').choices(outcomes))
    .option('--limit <number>', `maximum number of runs, 1 to ${maxListed}`, parseLimit, 50)
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
        const runs = await withRuns(loadCommandConfig(terminal, command), (all) =>
          all.list({ trigger, outcome, limit: options.limit }),
        )
        if (options.json === true) for (const run of runs) terminal.say(formatJson(run))
        else if (runs.length > 0)
          for (const line of formatTableLines(
            [
              'PLANNED',
              'PROJECT',
              'APPLICATION',
              'ENVIRONMENT',
              'TRIGGER',
              'OUTCOME',
              'ATTEMPTS',
              'RESULT',
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
        if (runs.length === 0) terminal.warn('No runs found.')
      },
    )
}

function addRetryCommand(triggers: Command, terminal: Terminal): void {
  triggers
    .command('retry')
    .description('Retry a failed run under the same id. The number of attempts starts again from zero.')
    .argument('<run>', 'id of the run, as printed by `manager triggers runs`')
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run manager -- triggers retry 0197a3c2-5f0e-7c3b-9c61-2f1e8f7f4a10',
    )
    .action(async (id: string, _options, command: Command) => {
      const run = await withRuns(loadCommandConfig(terminal, command), (all) => all.retry(id))
      terminal.say(
        `Queued the run of trigger ${run.triggerName} (planned for ${run.scheduledAt}) for delivery.`,
      )
    })
}

const formatJson = ({ scheduledAt, responseStatus, ...run }: ListedRun): string =>
  JSON.stringify({ ...run, scheduled_at: scheduledAt, response_status: responseStatus })

const withRuns = <T>(config: Config, work: (runs: RunOperations) => Promise<T>): Promise<T> =>
  withDatabase(config, ({ db, clock, runForJobs }) =>
    work(createRunOperations({ db, jobs: createJobs({ run: runForJobs }), audit: createAudit(clock) })),
  )
