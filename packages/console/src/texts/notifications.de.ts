// German texts for sections/notifications.
import type { notifications as english } from './notifications.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const notifications: TextsOf<typeof english> = {
  'notifications.noAccess': 'Die Zustellung der Benachrichtigungen ist für Sie nicht sichtbar',
  'notifications.noAccessHint':
    'Sie erfordert die Rolle developer im Projekt. Ihr Posteingang ist in Ihrem Konto.',
  'notifications.note': 'von Backends gesendet, nach Tagen in UTC gezählt',
  'notifications.inbox': 'Mein Posteingang',
  'notifications.application': 'Anwendung',
  'notifications.range': 'Zeitraum',
  'notifications.range.7d': '7 Tage',
  'notifications.range.30d': '30 Tage',
  'notifications.perDay': 'Pro Tag',
  'notifications.bars': (most, days) =>
    plural(most, {
      one: `höchstens # Benachrichtigung pro Tag in ${days} Tagen`,
      other: `höchstens # Benachrichtigungen pro Tag in ${days} Tagen`,
    }),
  'notifications.emitted': 'Gesendet',
  'notifications.recipients': 'Empfänger',
  'notifications.seen': 'Gesehen',
  'notifications.read': 'Gelesen',
  'notifications.day': 'Tag',
  'notifications.byDay': 'Nach Tagen',
  'notifications.noneInRange': 'In dieser Zeit wurde keine Benachrichtigung gesendet.',
  'notifications.delay':
    'Die Zahlen folgen nach etwa einer Minute. Eine Benachrichtigung zählt am Tag des Sendens, auch wenn sie später gelesen wird.',
  'notifications.empty': 'Noch keine Anwendungen',
  'notifications.emptyHint':
    'Backends von Anwendungen senden Benachrichtigungen. Legen Sie zuerst eine Anwendung an.',
  'notifications.noMatch': 'Keine Anwendung passt',
  'notifications.noMatchHint': 'Prüfen Sie den Text oder setzen Sie den Filter zurück.',
}
