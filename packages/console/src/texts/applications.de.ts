// German texts for sections/applications.
import type { applications as english } from './applications.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const applications: TextsOf<typeof english> = {
  'applications.search': 'Name',
  'applications.name': 'Name',
  'applications.description': 'Beschreibung',
  'applications.one': 'Anwendung',
  'applications.new': 'Neue Anwendung',
  'applications.editTitle': (name) => `${name} bearbeiten`,
  'applications.changed': 'Geändert',
  'applications.created': 'Angelegt',
  'applications.tenantsOn': 'Mandanten an',
  'applications.endpoints': 'Endpunkte',
  'applications.triggers': 'Auslöser',
  'applications.backends': 'Backends',
  'applications.allBackends': 'Alle Backends',
  'applications.live': (live, total) => `${live} von ${total} aktiv`,
  'applications.isLive': 'aktiv',
  'applications.isNotLive': 'nicht aktiv',
  'applications.noVersion': 'Version unbekannt',
  'applications.on': 'an',
  'applications.off': 'aus',
  'applications.use': 'Nutzung',
  'applications.history': 'Verlauf',
  'applications.noTenants': 'Noch hat kein Mandant die Anwendung.',
  'applications.noMembers': 'Die Anwendung hat noch keine Mitglieder.',
  'applications.noBackends': 'keine',
  'applications.noBackendsHint':
    'Noch hat sich kein Backend registriert. Backends registrieren sich beim Start.',
  'applications.noEndpoints': 'Die Anwendung hat noch keine Endpunkte.',
  'applications.noTriggers': 'Die Anwendung hat noch keine Auslöser.',
  'applications.empty': 'Noch keine Anwendungen',
  'applications.emptyHint':
    'Eine Anwendung ist ein Produkt des Projekts. Mandanten nutzen sie; Backends und Endpunkte gehören zu ihr.',
  'applications.noMatch': 'Keine Anwendung passt',
  'applications.noMatchHint': 'Der Filter blendet alle Anwendungen aus.',
  'applications.readOnly': 'Mit Ihrer Rolle können Sie diese Anwendung nur ansehen.',
  'applications.deleteTitle': (name) => `Anwendung ${name} löschen?`,
  'applications.deleteCalls':
    'Eine Anwendung, deren Endpunkte Aufrufe protokolliert haben, lässt sich nicht löschen. Schalten Sie stattdessen die Endpunkte aus.',
  'applications.countTenants': (count) =>
    plural(count, { one: 'Mandantenzeile mit Einstellungen', other: 'Mandantenzeilen mit Einstellungen' }),
  'applications.countEndpoints': (count) => plural(count, { one: 'Endpunkt', other: 'Endpunkte' }),
  'applications.countTriggers': (count) => plural(count, { one: 'Auslöser', other: 'Auslöser' }),
  'applications.countBackends': (count) =>
    plural(count, { one: 'registriertes Backend', other: 'registrierte Backends' }),
}
