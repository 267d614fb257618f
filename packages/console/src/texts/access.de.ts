// German texts for sections/access.
import type { access as english } from './access.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const access: TextsOf<typeof english> = {
  'access.noAccess': 'Die Zugriffsmatrix ist für Sie nicht sichtbar',
  'access.noAccessHint':
    'Die Matrix zeigt alle Mandanten des Projekts und erfordert daher eine Rolle im Projekt. Fragen Sie eine Person, die das Projekt verwaltet.',
  'access.search': 'Mandant',
  'access.application': 'Anwendung',
  'access.show': 'Zeilen',
  'access.showOwn': 'mit eigenen Einstellungen',
  'access.showChanged': 'mit markierten Änderungen',
  'access.size': (tenants, applications, isExact) =>
    `${plural(tenants, { one: '# Mandant', other: isExact ? '# Mandanten' : 'mehr als # Mandanten' })}, ${plural(applications, { one: '# Anwendung', other: '# Anwendungen' })}`,
  'access.on': 'an',
  'access.off': 'aus',
  'access.marks': 'Ein Klick markiert eine Änderung. Gespeichert wird sie erst beim Anwenden.',
  'access.none': 'nie eingeschaltet',
  'access.legendOff': 'ausgeschaltet, Einstellungen behalten',
  'access.legendOwn': 'eigene Einstellungen',
  'access.ownCount': (count) =>
    plural(count, { one: 'hat # eigene Einstellung', other: 'hat # eigene Einstellungen' }),
  'access.readOnly': 'Mit Ihrer Rolle können Sie die Matrix nur ansehen.',
  'access.review': (count) => plural(count, { one: '# Änderung prüfen', other: '# Änderungen prüfen' }),
  'access.empty': 'Die Matrix ist leer',
  'access.emptyTenants':
    'Legen Sie zuerst einen Mandanten an. Dann wählen Sie hier, welche Anwendungen er nutzt.',
  'access.emptyApplications':
    'Legen Sie zuerst eine Anwendung an. Dann wählen Sie hier, welche Mandanten sie nutzen.',
  'access.noMatch': 'Kein Mandant passt',
  'access.noMatchHint': 'Der Filter blendet alle Mandanten aus.',
  'access.noMatchPage':
    'Der Filter gilt für die Mandanten dieser Seite. Öffnen Sie die nächste Seite oder setzen Sie den Filter zurück.',
  'access.preview': 'Vorschau',
  'access.previewNote': 'Noch ist nichts gespeichert.',
  'access.enable': (name) => `${name} einschalten`,
  'access.disable': (name) => `${name} ausschalten`,
  'access.tenants': (count) => plural(count, { one: '# Mandant', other: '# Mandanten' }),
  'access.unmark': (tenant, application) => `Änderung von ${application} für ${tenant} entfernen`,
  'access.effects': 'Auswirkungen',
  'access.effectMembers': (count) =>
    plural(count, {
      one: '# Mitglied dieser Mandanten ist betroffen.',
      other: '# Mitglieder dieser Mandanten sind betroffen.',
    }),
  'access.effectAdded': (count) =>
    plural(count, {
      one: '# Anwendung wird ohne eigene Einstellungen hinzugefügt. Alle Werte kommen aus den Ebenen darüber.',
      other:
        '# Anwendungen werden ohne eigene Einstellungen hinzugefügt. Alle Werte kommen aus den Ebenen darüber.',
    }),
  'access.effectOwnApply': (count) =>
    plural(count, {
      one: '# eigene Einstellung gilt wieder.',
      other: '# eigene Einstellungen gelten wieder.',
    }),
  'access.effectOwnKept': (count) =>
    plural(count, {
      one: '# eigene Einstellung bleibt für das nächste Mal erhalten.',
      other: '# eigene Einstellungen bleiben für das nächste Mal erhalten.',
    }),
  'access.effectEnvironments': 'Die Änderungen gelten sofort, in allen Umgebungen.',
  'access.oneByOne':
    'Die Änderungen werden nacheinander gespeichert. Schlägt eine fehl, bleiben die anderen gespeichert, und die fehlgeschlagene bleibt hier stehen.',
  'access.apply': (count) => plural(count, { one: '# Änderung anwenden', other: '# Änderungen anwenden' }),
  'access.applying': 'Änderungen werden angewendet',
  'access.applied': (count) =>
    plural(count, { one: '# Änderung angewendet', other: '# Änderungen angewendet' }),
  'access.failed': (count) =>
    plural(count, {
      one: '# Änderung ist fehlgeschlagen. Die anderen sind gespeichert.',
      other: '# Änderungen sind fehlgeschlagen. Die anderen sind gespeichert.',
    }),
  'access.stopped': (count) =>
    plural(count, {
      one: '# Änderung ist fehlgeschlagen; die folgenden wurden nicht gesendet.',
      other: '# Änderungen sind fehlgeschlagen; die folgenden wurden nicht gesendet.',
    }),
  'access.leaveTitle': 'Markierte Änderungen verwerfen?',
  'access.leaveHint':
    'Die Änderungen in der Matrix sind markiert, aber nicht angewendet. Sie gehen verloren, wenn Sie die Seite verlassen.',
}
