// Operations on the caller's own notifications. The callers of the matrix have none.
import { type Operation, op } from './operation.ts'
import { everyone } from './principals.ts'

const linked = (link: string) =>
  op(`Notification.${link}`, 'system', everyone, () => `{ myNotifications { nodes { ${link} { id } } } }`)

export const notificationOperations: Operation[] = [
  op('Query.myNotifications', 'system', everyone, () => '{ myNotifications { isComplete } }'),
  op('Query.myUnreadNotifications', 'system', everyone, () => '{ myUnreadNotifications }'),
  op(
    'Mutation.markMyNotificationsRead',
    'system',
    everyone,
    () => 'mutation { markMyNotificationsRead(all: true) { updated } }',
  ),
  linked('application'),
  linked('tenant'),
]
