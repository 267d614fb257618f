import {
  createTriggerDocument,
  deleteTriggerDocument,
  listTriggersDocument,
  updateTriggerDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const triggers: Resource = {
  name: 'triggers',
  singular: 'trigger',
  description: 'Triggers: schedules that call the backends of an app',
  parent: 'app',
  keys: ['name'],
  columns: ['name', 'cronExpression', 'enabled', 'runKey', 'id'],
  fields: [
    { name: 'name', description: 'the name', only: 'update' },
    { name: 'description', description: 'a short description' },
    { name: 'cronExpression', description: 'the schedule, such as "0 3 * * *" or @daily', isRequired: true },
    { name: 'runKey', description: 'a string that tells the backend what to run' },
    { name: 'enabled', description: 'whether the trigger fires', kind: 'boolean' },
  ],
  list: { document: listTriggersDocument, parent: 'application' },
  create: { document: createTriggerDocument, parent: 'applicationId' },
  update: { document: updateTriggerDocument },
  delete: { document: deleteTriggerDocument },
  example: 'nightly --cron-expression "0 3 * * *"',
}
