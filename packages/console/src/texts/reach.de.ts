// German texts for sections/reach.
import { createPlural } from './plural.ts'
import type { reach as english } from './reach.en.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const reach: TextsOf<typeof english> = {
  'reach.access': 'Zugriff',
  'reach.accessIn': (project) => `Zugriff in ${project}`,
  'reach.applicationInTenant': (application, tenant) => `${application} in ${tenant}`,
  'reach.coversAll': 'mit allen Projekten, Mandanten und Anwendungen',
  'reach.coversProject': 'mit allen Mandanten und Anwendungen',
  'reach.fromGroup': (reason, group) => `${reason}, durch die Gruppe ${group}`,
  'reach.granted': (reason, person, date) => `${reason}, vergeben von ${person} am ${date}`,
  'reach.hiddenAdministrators':
    'Administratoren haben ebenfalls Zugriff. Nur Administratoren sehen, wer sie sind.',
  'reach.hiddenApplication': 'Eine Anwendung, die Sie nicht sehen können',
  'reach.hiddenMembers':
    'Mitglieder des Projekts und Administratoren haben ebenfalls Zugriff. Nur Mitglieder des Projekts sehen, wer sie sind.',
  'reach.hiddenTenant': 'Ein Mandant, den Sie nicht sehen können',
  'reach.installation': 'Die ganze Installation',
  'reach.more': 'Mehr anzeigen',
  'reach.noAccess': 'Kein Zugriff, den Sie sehen können',
  'reach.nobody': 'Niemand hat Zugriff, oder niemand passt zur Suche.',
  'reach.object': 'Zugriff auf',
  'reach.permissions': (count) => plural(count, { one: '# Berechtigung', other: '# Berechtigungen' }),
  'reach.reason': 'Grund',
  'reach.reason.APPLICATION_ROLE': (role) => `Rolle ${role} in der Anwendung`,
  'reach.reason.PROJECT_ROLE': (role) => `Rolle ${role} im Projekt`,
  'reach.reason.SYSTEM_ROLE': (_role) => 'Administrator der Installation',
  'reach.reason.TENANT_ROLE': (role) => `Rolle ${role} im Mandanten`,
  'reach.scope.APPLICATION': 'Anwendung',
  'reach.scope.PROJECT': 'Projekt',
  'reach.scope.SYSTEM': 'System',
  'reach.scope.TENANT': 'Mandant',
  'reach.scope.TENANT_APPLICATION': 'Anwendung in einem Mandanten',
  'reach.since': (reason, date) => `${reason}, seit ${date}`,
  'reach.view': 'Anzeigen',
  'reach.viewMembers': 'Mitglieder',
  'reach.who': 'Wer Zugriff hat',
}
