// English texts for sections/notifications.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const notifications = {
  'notifications.noAccess': 'You cannot see the delivery of notifications',
  'notifications.noAccessHint':
    'It requires the role developer in the project. Your inbox is in your account.',
  'notifications.note': 'sent by backends, counted by day in UTC',
  'notifications.inbox': 'My inbox',
  'notifications.application': 'Application',
  'notifications.range': 'Time range',
  'notifications.range.7d': '7 days',
  'notifications.range.30d': '30 days',
  'notifications.perDay': 'Per day',
  'notifications.bars': (most: number, days: number) =>
    plural(most, {
      one: `at most # notification per day in ${days} days`,
      other: `at most # notifications per day in ${days} days`,
    }),
  'notifications.emitted': 'Sent',
  'notifications.recipients': 'Recipients',
  'notifications.seen': 'Seen',
  'notifications.read': 'Read',
  'notifications.day': 'Day',
  'notifications.byDay': 'By day',
  'notifications.noneInRange': 'No notification was sent in this time.',
  'notifications.delay':
    'The counts follow within about a minute. A notification counts on the day when it was sent, even if it is read later.',
  'notifications.empty': 'No applications yet',
  'notifications.emptyHint': 'Backends of applications send notifications. Create an application first.',
  'notifications.noMatch': 'No application matches',
  'notifications.noMatchHint': 'Check the text, or clear the filter.',
}
