// Operations on triggers.
import { randomUUID } from 'node:crypto'
import { seedBackend, seedRuns } from '../kit/triggers.ts'
import { type Operation, type Rest, op } from './operation.ts'
import { developers, everyone, projectRoles } from './principals.ts'
import { fresh } from './world.ts'

const trigger: Rest = { make: fresh.trigger }
/** Creates a trigger and a live backend. */
const runnable: Rest = {
  make: async (world, target) => {
    await seedBackend(world.service.sql, target)
    return fresh.trigger(world, target)
  },
}
/** Creates a missed run of a trigger that has a live backend, and returns the id of the run. */
const missed: Rest = {
  make: async (world, target) => {
    const triggerId = await runnable.make?.(world, target)
    const { id: projectId, applicationId, environmentId } = target
    const of = { projectId, applicationId, triggerId: triggerId as string, environmentId }
    await seedRuns(world.service.sql, of, { count: 1, until: new Date() })
    const { rows } = await world.service.sql.query<{ id: string }>(
      'select id from trigger_runs where trigger_id = $1',
      [triggerId],
    )
    return rows[0]?.id as string
  },
}
/** Creates a trigger with a run. */
const ran: Rest = {
  make: async (world, target) => {
    const triggerId = await fresh.trigger(world, target)
    const { id: projectId, applicationId, environmentId } = target
    const of = { projectId, applicationId, triggerId, environmentId }
    await seedRuns(world.service.sql, of, { count: 1, until: new Date() })
    return triggerId
  },
}

const january = 'from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z"'

export const triggerOperations: Operation[] = [
  op(
    'Query.triggers',
    'application',
    projectRoles,
    (t) => `{ triggers(application: "${t.applicationId}") { id } }`,
  ),
  op('Query.trigger', 'trigger', projectRoles, (_, id) => `{ trigger(id: "${id}") { id } }`, trigger),
  op(
    'Query.triggerRuns',
    'trigger',
    projectRoles,
    (_, id) => `{ triggerRuns(trigger: "${id}") { id } }`,
    trigger,
  ),
  op(
    'Query.runSeries',
    'project',
    projectRoles,
    (t) => `{ runSeries(projectId: "${t.id}", ${january}) { count } }`,
  ),
  op('Query.nextRuns', 'system', everyone, () => '{ nextRuns(cronExpression: "@daily") }'),
  op(
    'Application.triggers',
    'application',
    projectRoles,
    (t) => `{ application(projectId: "${t.id}", slug: "${t.applicationSlug}") { triggers { id } } }`,
  ),
  op(
    'Trigger.application',
    'trigger',
    projectRoles,
    (_, id) => `{ trigger(id: "${id}") { application { id } } }`,
    trigger,
  ),
  op(
    'TriggerRun.environment',
    'trigger',
    projectRoles,
    (_, id) => `{ triggerRuns(trigger: "${id}") { environment { id } } }`,
    ran,
  ),
  op(
    'Mutation.createTrigger',
    'application',
    developers,
    (t, id) => `mutation { createTrigger(applicationId: "${t.applicationId}",
      input: {name: "${id}", cronExpression: "@daily"}) { id } }`,
  ),
  op(
    'Mutation.updateTrigger',
    'trigger',
    developers,
    (_, id) => `mutation { updateTrigger(id: "${id}", input: {name: "${randomUUID()}"}) { id } }`,
    trigger,
  ),
  op(
    'Mutation.deleteTrigger',
    'trigger',
    developers,
    (_, id) => `mutation { deleteTrigger(id: "${id}") }`,
    trigger,
  ),
  op(
    'Mutation.runTrigger',
    'trigger',
    developers,
    (t, id) => `mutation { runTrigger(id: "${id}", environmentId: "${t.environmentId}") { id } }`,
    runnable,
  ),
  op(
    'Mutation.retryTriggerRun',
    'trigger',
    developers,
    (_, id) => `mutation { retryTriggerRun(id: "${id}") { id } }`,
    missed,
  ),
]
