// runs: lists the runs of a trigger, starts a run now, and retries a run.
import { type Connection, graphql } from '@manager/client'
import {
  pageTriggerRunsDocument,
  retryTriggerRunDocument,
  runTriggerDocument,
} from '@manager/client/documents'
import { type Command, Option } from 'commander'
import { formatRun, runColumns } from '../call-rows.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { type FollowOptions, addFollowOption, followRuns } from '../follow/follow-commands.ts'
import { addListOptions, printListed } from '../list-options.ts'
import { printResult } from '../output.ts'
import { readPages } from '../pages.ts'
import { type ParentOptions, addParentOptions, getParent, parentDescriptions } from '../parents.ts'
import { findNamedRow } from '../resource-commands.ts'
import { triggers } from '../resources/triggers.ts'
import { isId } from '../rows.ts'
import { parseTime } from '../times.ts'
import type { Terminal } from '../terminal.ts'

export type RunFilterOptions = ParentOptions & { outcome?: string; from?: string; to?: string }
const outcomes = [
  'pending',
  'delivered',
  'failed',
  'cancelled',
  'skipped_no_backend',
  'skipped_overlap',
  'missed',
]
/** Outcomes of runs that did not reach a backend. */
const unsuccessfulOutcomes = new Set(outcomes.filter((name) => name !== 'pending' && name !== 'delivered'))
const triggerArgument = ['<trigger>', 'the trigger, by name or id'] as const
const environmentOption = [
  '-e, --environment <name>',
  'only runs in this environment: dev, qas or run',
] as const

export function addRunCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'runs',
    description: 'Runs: the recorded, manual and retried runs of a trigger',
    examples: ['runs list nightly -p shop -a web'],
  }).alias('run')
  addListCommand(group, terminal)
  addStartCommand(group, terminal)
  addRetryCommand(group, terminal)
}

function addListCommand(group: Command, terminal: Terminal): void {
  const list = addCommand(group, {
    name: 'list',
    description: 'List the runs of a trigger by planned time, newest first.',
    examples: [
      'runs list nightly -p shop -a web',
      'runs list nightly -p shop -a web --outcome failed',
      'runs list nightly -p shop -a web --follow',
    ],
  })
    .argument(...triggerArgument)
    .addOption(new Option('--outcome <outcome>', 'only runs with this outcome').choices(outcomes))
    .option('--from <time>', 'only runs from this planned time (RFC 3339) or day (UTC)', parseTime)
    .option('--to <time>', 'only runs before this planned time or day', parseTime)
    .option(...environmentOption)
  addListOptions(addParentOptions(list, 'app'), { hasFilters: false, limit: 20 })
  addFollowOption(list, ['from', 'to'])
  setAction<RunFilterOptions & FollowOptions & { limit: number }>(
    list,
    terminal,
    async (context, [named = ''], { limit, follow, ...options }) => {
      const { connection, variables } = await getRunVariables(context, named, options)
      const view = { columns: runColumns, limit, formatRow: formatRun }
      if (follow === true) return followRuns(context, connection, variables, view)
      const listed = await readPages(limit, (request) =>
        readRuns(context, connection, { ...variables, ...request }),
      )
      const rows = context.format === 'table' ? listed.rows.map(formatRun) : listed.rows
      printListed(context, runColumns, { ...listed, rows })
    },
  )
}

type RunVariables = Awaited<ReturnType<typeof getRunVariables>>['variables']

async function readRuns({ signal }: Context, connection: Connection, variables: RunVariables) {
  const result = await graphql(connection, pageTriggerRunsDocument, variables, { signal })
  return result.triggerRunsConnection
}

/** Returns the variables of the query, with the ids of the objects that the options name. */
export async function getRunVariables(context: Context, named: string, options: RunFilterOptions) {
  const { connection, row } = await findNamedRow(context, triggers, named, options)
  const { environment, outcome, from, to } = options
  const environmentId =
    environment === undefined ? undefined : (await getParent(context, connection, 'environment', options))?.id
  return { connection, variables: { trigger: String(row['id']), environmentId, outcome, from, to } }
}

function addStartCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'start',
    description:
      'Start a run of a trigger in an environment now, even if the trigger is disabled. The schedule does not change.',
    examples: ['runs start nightly -p shop -a web -e dev'],
  })
    .argument(...triggerArgument)
    .option('-e, --environment <name>', parentDescriptions.environment)
    .option('--request-key <text>', 'a key of your choice; with the same key, the run starts only once')
  addParentOptions(command, 'app')
  setAction<ParentOptions & { requestKey?: string }>(
    command,
    terminal,
    async (context, [named = ''], options) => {
      const { connection, row } = await findNamedRow(context, triggers, named, options)
      const environment = await getParent(context, connection, 'environment', options)
      const variables = {
        id: String(row['id']),
        environmentId: environment?.id ?? '',
        ...(options.requestKey === undefined ? {} : { requestKey: options.requestKey }),
      }
      const { runTrigger } = await graphql(connection, runTriggerDocument, variables, {
        signal: context.signal,
      })
      const sentence = `Started a run of trigger ${named} in ${runTrigger.environment.name}. To see the result, run: svc runs list ${named}`
      printResult(terminal, context.format, sentence, runTrigger)
    },
  )
}

function addRetryCommand(group: Command, terminal: Terminal): void {
  const command = addCommand(group, {
    name: 'retry',
    description:
      'Start a new run that retries a run: the newest run that did not succeed, or the run with an id.',
    examples: ['runs retry nightly -p shop -a web', 'runs retry nightly -p shop -a web -e run'],
  })
    .argument(...triggerArgument)
    .option('--run <id>', 'the id of the run')
    .option(...environmentOption)
  addParentOptions(command, 'app')
  setAction<ParentOptions & { run?: string }>(command, terminal, async (context, [named = ''], options) => {
    const { connection, id } = await findRetriedRun(context, named, options)
    const { retryTriggerRun } = await graphql(
      connection,
      retryTriggerRunDocument,
      { id },
      { signal: context.signal },
    )
    const { environment, scheduledAt } = retryTriggerRun
    const sentence = `Started a retry of trigger ${named} in ${environment.name} at ${scheduledAt}. To see the result, run: svc runs list ${named}`
    printResult(terminal, context.format, sentence, retryTriggerRun)
  })
}

async function findRetriedRun(
  context: Context,
  named: string,
  { run, ...options }: ParentOptions & { run?: string },
): Promise<{ connection: Connection; id: string }> {
  if (run !== undefined && !isId(run)) throw new Failure('usage', `${run} is not the id of a run.`)
  if (run !== undefined) return { connection: await context.connect(), id: run }
  const { connection, variables } = await getRunVariables(context, named, options)
  const request = { pagination: { limit: 100, offset: 0 } }
  const { nodes } = await readRuns(context, connection, { ...variables, ...request })
  const newestRun = nodes.find(({ outcome }) => unsuccessfulOutcomes.has(outcome))
  if (newestRun !== undefined) return { connection, id: newestRun.id }
  throw new Failure(
    'notFound',
    `None of the newest runs of trigger ${named} failed or was skipped. See: svc runs list ${named}`,
  )
}
