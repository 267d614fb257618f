import type { Audit } from '../../platform/audit/append.ts'
import { createEventBuilder } from '../../platform/audit/entity.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/postgres/handles.ts'
import { badRequest, conflict, orNotFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { checkFields, checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkText, selectChanges } from '../../platform/inputs/inputs.ts'
import { type TimeBounds, readTimeWindow } from '../../platform/inputs/time-window.ts'
import { type ListArgs, readPage } from '../../platform/lists/filters.ts'
import type { Actor } from '../../policy/actor.ts'
import { type ExpectedRevision, checkRevision } from '../../policy/revisions.ts'
import { type Cron, CronError, parseCron } from './cron.pure.ts'
import type { CronCache } from './crons.service.ts'
import { type TriggerRun, listRuns } from './trigger-runs.store.ts'
import * as store from './triggers.store.ts'

/** `clock` is synchronized with the database clock. */
export type TriggersDeps = { db: Db; audit: Audit; clock: Clock; crons: CronCache; maxPerProject: number }
export type TriggersService = ReturnType<typeof createTriggersService>

type Input = { readonly [Field in keyof store.TriggerValues]?: store.TriggerValues[Field] | null }

type RunArgs = TimeBounds & { limit?: number | null }
type Changes = Input & { readonly expectedRevision?: ExpectedRevision }

const event = createEventBuilder<store.Trigger>({
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
    // This field is derived from the expression and `enabled`. Ticks update the field.
    nextFireAt: 'ignored',
    createdAt: 'ignored',
  },
  nameOf: (trigger) => trigger.name,
  projectOf: (trigger) => trigger.projectId,
})

const maxRuns = 100
const maxInstants = 100
const previewInstants = 10

/** Manages triggers but does not fire them: a tick finds due triggers by `nextFireAt`. */
export function createTriggersService({ db, audit, clock, crons, maxPerProject }: TriggersDeps) {
  return {
    list: (applicationIds: readonly string[], args: ListArgs): Promise<store.Trigger[]> =>
      store.listTriggers(db.read, applicationIds, readPage(store.triggerFields, args)),

    get: async (id: string): Promise<store.Trigger> =>
      orNotFound(await store.findTrigger(db.read, id), 'trigger'),

    listRuns: (id: string, { limit, ...bounds }: RunArgs): Promise<TriggerRun[]> => {
      const checked = checkFields({
        limit: () => checkCount(limit ?? maxRuns, 'limit', maxRuns),
        '': () => readTimeWindow(bounds),
      })
      return listRuns(db, id, { limit: checked.limit, window: checked[''] })
    },

    previewInstants,

    /** Checks the number of instants that a caller requests. */
    checkInstants: (count = previewInstants): number =>
      checkFields({ count: () => checkCount(count, 'count', maxInstants) }).count,

    /** Returns when a trigger fires next, or would fire if it were enabled. */
    nextRuns: ({ cronExpression }: store.Trigger, count: number): string[] =>
      listInstants(
        convertCronErrors(() => crons.getCron(cronExpression)),
        clock.now(),
        count,
      ),

    /**
     * Returns when an expression would fire next. It is parsed without the cache, so that previews do not evict
     * stored expressions.
     */
    previewRuns: (cronExpression: string): string[] => {
      const cron = checkFields({ cronExpression: () => convertCronErrors(() => parseCron(cronExpression)) })
      return listInstants(cron.cronExpression, clock.now(), previewInstants)
    },

    create: (actor: Actor, applicationId: string, input: Input): Promise<store.Trigger> => {
      const { values, cron } = checkValues(input, null)
      return db.transaction(async (tx) => {
        const nextFireAt = values.enabled && cron !== null ? await computeFirstFire(tx, cron) : null
        const inserted = await store.insertTrigger(tx, { id: newId(), applicationId, ...values, nextFireAt })
        const after = orNotFound(inserted, 'application')
        // Limits the triggers of a project: all of them can be due in the same minute and delay the triggers of other
        // projects.
        if (await store.hasMoreTriggers(tx, after.projectId, maxPerProject))
          throw conflict(
            `a project can have at most ${maxPerProject} triggers; delete one, or ask the operator to raise triggers.max_per_project`,
          )
        await audit.append(tx, actor, event('create', { before: null, after }))
        return after
      })
    },

    update: (actor: Actor, id: string, { expectedRevision, ...input }: Changes): Promise<store.Trigger> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTrigger(tx, id), 'trigger')
        await checkRevision(tx, actor, before, expectedRevision)
        const { values, cron } = checkValues({ ...before, ...selectChanges(input) }, before)
        const plan = await replan(tx, before, { enabled: values.enabled, cron })
        const after = await store.updateTrigger(tx, id, { ...values, ...plan })
        await audit.append(tx, actor, event('update', { before, after }))
        return after
      }),

    delete: (actor: Actor, id: string, expectedRevision: ExpectedRevision): Promise<true> =>
      db.transaction(async (tx) => {
        const before = orNotFound(await store.lockTrigger(tx, id), 'trigger')
        await checkRevision(tx, actor, before, expectedRevision)
        await store.deleteTrigger(tx, id)
        await audit.append(tx, actor, event('delete', { before, after: null }))
        return true as const
      }),
  }
}

/**
 * Checks the values and fills in defaults. An expression is parsed only if it changes the plan, because a stored
 * expression may be older than a validation rule.
 */
function checkValues(
  input: Input,
  stored: store.Trigger | null,
): { values: store.TriggerValues; cron: Cron | null } {
  const text = input.cronExpression ?? ''
  const enabled = input.enabled ?? true
  const changesPlan = stored === null || text !== stored.cronExpression || (enabled && !stored.enabled)
  const { cronExpression: cron, ...texts } = checkInput({
    name: () => checkName(input.name ?? ''),
    description: () => checkText(input.description ?? '', 'description', 2_000),
    runKey: () => checkText(input.runKey ?? '', 'runKey', 200),
    cronExpression: () => (changesPlan ? convertCronErrors(() => parseCron(text)) : null),
  })
  return { values: { ...texts, cronExpression: text, enabled }, cron }
}

/**
 * Returns the first due time of the trigger. An edit has already locked the row, so no tick overwrites the
 * plan.
 */
async function computeFirstFire(tx: Tx, cron: Cron): Promise<string> {
  const firstInstant = cron.findNext(await store.readNow(tx))
  if (firstInstant === null)
    throw badRequest('cronExpression never fires; choose another expression', 'input.cronExpression')
  return firstInstant.toISOString()
}

/** Returns the plan after an edit. The plan changes only if the expression (`cron`) or `enabled` changes. */
async function replan(
  tx: Tx,
  before: store.Trigger,
  { enabled, cron }: { enabled: boolean; cron: Cron | null },
): Promise<{ nextFireAt?: string | null }> {
  if (cron !== null) return { nextFireAt: enabled ? await computeFirstFire(tx, cron) : null }
  return enabled === before.enabled ? {} : { nextFireAt: null }
}

/** Converts a CronError to a 400 error; rethrows any other error. */
function convertCronErrors<Result>(parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw error instanceof CronError ? badRequest(`cronExpression ${error.message}`) : error
  }
}

function checkCount(value: number, name: string, max: number): number {
  if (value < 1 || value > max) throw badRequest(`${name} must be from 1 to ${max}`)
  return value
}

function listInstants(cron: Cron, from: Date, count: number): string[] {
  const instants: string[] = []
  let instant = cron.findNext(from)
  while (instant !== null) {
    instants.push(instant.toISOString())
    if (instants.length === count) break
    instant = cron.findNext(instant)
  }
  return instants
}
