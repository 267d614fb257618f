import type { Audit } from '../../platform/audit/append.ts'
import { auditedEntity } from '../../platform/audit/entity.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { changesOf, checkName, checkText } from '../../platform/inputs/inputs.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { Actor } from '../../policy/actor.ts'
import { type Cron, CronError, parseCron } from './cron.pure.ts'
import type { Crons } from './crons.service.ts'
import { type TriggerRun, listRuns } from './trigger-runs.store.ts'
import * as store from './triggers.store.ts'

/** `clock` goes by the database. */
export type TriggersDeps = { db: Db; audit: Audit; clock: Clock; crons: Crons; maxPerProject: number }
export type TriggersService = ReturnType<typeof createTriggersService>

type Input = { readonly [Field in keyof store.TriggerValues]?: store.TriggerValues[Field] | null }

const event = auditedEntity<store.Trigger>({
  type: 'trigger',
  classes: {
    id: 'public',
    projectId: 'ignored',
    applicationId: 'public',
    name: 'public',
    description: 'public',
    cronExpression: 'public',
    runKey: 'public',
    enabled: 'public',
    // It follows from expression and enabled, and moves on by itself.
    nextFireAt: 'ignored',
    createdAt: 'ignored',
    updatedAt: 'ignored',
  },
  nameOf: (trigger) => trigger.name,
  projectOf: (trigger) => trigger.projectId,
})

const maxRuns = 100
const maxInstants = 100
const previewInstants = 10

/** Rules about triggers. Nothing fires here: a tick finds what is due by `nextFireAt`. */
export function createTriggersService({ db, audit, clock, crons, maxPerProject }: TriggersDeps) {
  return {
    list: (applicationIds: readonly string[], args: ListArgs): Promise<store.Trigger[]> =>
      store.listTriggers(db.read, applicationIds, readPage(store.triggerFields, args)),

    get: async (id: string): Promise<store.Trigger> =>
      orNotFound(await store.findTrigger(db.read, id), 'trigger'),

    listRuns: (id: string, limit = maxRuns): Promise<TriggerRun[]> =>
      listRuns(db, id, checkCount(limit, 'limit', maxRuns)),

    previewInstants,

    /** How many instants a caller may ask for at once. */
    checkInstants: (count = previewInstants): number => checkCount(count, 'count', maxInstants),

    /** When a trigger fires next, or would if it were enabled. */
    nextRuns: ({ cronExpression }: store.Trigger, count: number): string[] =>
      instantsOf(
        checked(() => crons.of(cronExpression)),
        clock.now(),
        count,
      ),

    /** When an expression would fire next; it is parsed by itself, so that it displaces nothing that is kept. */
    previewRuns: (cronExpression: string): string[] =>
      instantsOf(
        checked(() => parseCron(cronExpression)),
        clock.now(),
        previewInstants,
      ),

    create: (actor: Actor, applicationId: string, input: Input): Promise<store.Trigger> => {
      const values = checkValues(input)
      const cron = checked(() => parseCron(values.cronExpression))
      return db.transaction(async (tx) => {
        const nextFireAt = await planOf(tx, values.enabled, cron)
        const inserted = await store.insertTrigger(tx, { id: newId(), applicationId, ...values, nextFireAt })
        const after = orNotFound(inserted, 'application')
        // All of them may be due in the same minute, and the others' wait behind them.
        if (await store.hasMoreTriggers(tx, after.projectId, maxPerProject))
          throw conflict(
            `a project has ${maxPerProject} triggers at most; delete one, or ask the operator to raise triggers.max_per_project`,
          )
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (actor: Actor, id: string, input: Input): Promise<store.Trigger> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTrigger(tx, id), 'trigger')
        const values = checkValues({ ...before, ...changesOf(input) })
        const plan = await replan(tx, before, values)
        const after = await store.updateTrigger(tx, id, { ...values, ...plan })
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTrigger(tx, id), 'trigger')
        await store.deleteTrigger(tx, id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}

/** What is not given is at its default. */
const checkValues = (input: Input): store.TriggerValues => ({
  name: checkName(input.name ?? ''),
  description: checkText(input.description ?? '', 'description', 2_000),
  cronExpression: input.cronExpression ?? '',
  runKey: checkText(input.runKey ?? '', 'runKey', 200),
  enabled: input.enabled ?? true,
})

/** When the trigger is due first. An edit has locked the row before, so that no tick moves on an older plan meanwhile. */
async function planOf(tx: Tx, enabled: boolean, cron: Cron): Promise<string | null> {
  if (!enabled) return null
  const first = cron.nextAfter(await store.readNow(tx))
  if (first === null) throw badRequest('cronExpression never fires; choose another one')
  return first.toISOString()
}

/** The plan after an edit; the stored one stays unless expression or enabled change. */
async function replan(
  tx: Tx,
  before: store.Trigger,
  { cronExpression, enabled }: store.TriggerValues,
): Promise<{ nextFireAt?: string | null }> {
  if (cronExpression !== before.cronExpression || (enabled && !before.enabled)) {
    const cron = checked(() => parseCron(cronExpression))
    return { nextFireAt: await planOf(tx, enabled, cron) }
  }
  return enabled === before.enabled ? {} : { nextFireAt: null }
}

/** What is wrong with an expression becomes an answer. */
function checked<Result>(parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw error instanceof CronError ? badRequest(`cronExpression ${error.message}`) : error
  }
}

function checkCount(value: number, name: string, most: number): number {
  if (value < 1 || value > most) throw badRequest(`${name} must be from 1 to ${most}`)
  return value
}

function instantsOf(cron: Cron, from: Date, count: number): string[] {
  const instants: string[] = []
  let instant = cron.nextAfter(from)
  while (instant !== null) {
    instants.push(instant.toISOString())
    if (instants.length === count) break
    instant = cron.nextAfter(instant)
  }
  return instants
}
