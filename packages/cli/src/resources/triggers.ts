import type { Resource } from '../resource.ts'

export const triggers: Resource = {
  name: 'triggers',
  one: 'trigger',
  description: 'Triggers: when the backends of an app are called',
  parent: 'app',
  keys: ['name'],
  selection: 'id name description cronExpression runKey enabled createdAt updatedAt nextRuns(count: 1)',
  columns: ['name', 'cronExpression', 'enabled', 'nextRuns', 'id'],
  fields: [
    { name: 'name', description: 'its name', only: 'update' },
    { name: 'description', description: 'what it is for' },
    { name: 'cronExpression', description: 'when, such as "0 3 * * *" or @daily', isRequired: true },
    { name: 'runKey', description: 'a text for the backend: what to run' },
    { name: 'enabled', description: 'whether it fires', kind: 'boolean' },
  ],
  list: { field: 'triggers', parent: 'application' },
  create: { field: 'createTrigger', parent: 'applicationId', input: 'CreateTriggerInput' },
  update: { field: 'updateTrigger', input: 'UpdateTriggerInput' },
  delete: { field: 'deleteTrigger' },
  example: 'nightly --cron-expression "0 3 * * *"',
}
