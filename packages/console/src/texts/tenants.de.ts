// German texts for sections/tenants.
import type { tenants as english } from './tenants.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const tenants: TextsOf<typeof english> = {
  'tenants.search': 'Name, Slug oder Kennung',
  'tenants.name': 'Name',
  'tenants.mode': 'Modus',
  'tenants.modeShared': 'shared',
  'tenants.modeDedicated': 'dedicated',
  'tenants.apps': 'Apps',
  'tenants.members': 'Mitglieder',
  'tenants.changed': 'Geändert',
  'tenants.one': 'Mandant',
  'tenants.new': 'Neuer Mandant',
  'tenants.editTitle': (name) => `${name} bearbeiten`,
  'tenants.empty': 'Noch keine Mandanten',
  'tenants.emptyHint':
    'Ein Mandant ist eine Kundenorganisation. Er nutzt Anwendungen des Projekts und hat eigene Mitglieder und Einstellungen.',
  'tenants.noMatch': 'Kein Mandant passt',
  'tenants.noMatchHint':
    'Der Filter blendet alle Mandanten aus. Ein Slug oder eine Kennung muss vollständig übereinstimmen.',
  'tenants.readOnly': 'Mit Ihrer Rolle können Sie diesen Mandanten nur ansehen.',
  'tenants.roles': 'Rollen',
  'tenants.ofOn': (enabled, total) => `${enabled} von ${total} an`,
  'tenants.offSince': (date) => `aus seit ${date}`,
  'tenants.neverAdded': 'nie hinzugefügt',
  'tenants.inheritsAll': 'erbt alles',
  'tenants.ownSettingsCount': (count) =>
    plural(count, { one: '# eigene Einstellung', other: '# eigene Einstellungen' }),
  'tenants.noApplications': 'Das Projekt hat noch keine Anwendungen.',
  'tenants.searchApplications': 'Anwendungen suchen',
  'tenants.noApplicationMatch': 'Keine Anwendung passt.',
  'tenants.applicationsHint':
    'Ein Schalter speichert sofort. Eigene Einstellungen bleiben erhalten, solange eine Anwendung aus ist.',
  'tenants.enabled': (application, tenant) => `${application} für ${tenant} eingeschaltet`,
  'tenants.disabled': (application, tenant) => `${application} für ${tenant} ausgeschaltet`,
  'tenants.removeApplication': (name) => `${name} entfernen`,
  'tenants.removeTitle': (application, tenant) => `${application} von ${tenant} entfernen?`,
  'tenants.removeWithSettings': (count) =>
    plural(count, {
      one: 'Der Mandant kann die Anwendung nicht mehr nutzen, und # eigene Einstellung wird gelöscht. Um sie zu behalten, schalten Sie die Anwendung stattdessen aus.',
      other:
        'Der Mandant kann die Anwendung nicht mehr nutzen, und # eigene Einstellungen werden gelöscht. Um sie zu behalten, schalten Sie die Anwendung stattdessen aus.',
    }),
  'tenants.removeWithoutSettings':
    'Der Mandant kann die Anwendung nicht mehr nutzen. Sie hat keine eigenen Einstellungen, also geht sonst nichts verloren.',
  'tenants.removed': (application, tenant) => `${application} von ${tenant} entfernt`,
  'tenants.addMember': 'Mitglied hinzufügen',
  'tenants.addMemberTitle': (tenant) => `Mitglied zu ${tenant} hinzufügen`,
  'tenants.addMemberFirst': 'Wählen Sie zuerst eine Person',
  'tenants.memberAdded': (name, tenant) => `${name} zu ${tenant} hinzugefügt`,
  'tenants.memberRemoved': (name, tenant) => `${name} aus ${tenant} entfernt`,
  'tenants.noMembers': 'Der Mandant hat noch keine Mitglieder.',
  'tenants.noMemberMatch': 'Kein Mitglied passt.',
  'tenants.searchMembers': 'Mitglieder nach Namen suchen',
  'tenants.removeMember': (name) => `${name} entfernen`,
  'tenants.removeMemberTitle': (name, tenant) => `${name} aus ${tenant} entfernen?`,
  'tenants.removeMemberHint': (role) =>
    `Die Person verliert die Rolle ${role} und den Zugriff, der davon abhängt. Sie können die Person wieder hinzufügen.`,
  'tenants.role': 'Rolle',
  'tenants.roleOf': (name) => `Rolle von ${name}`,
  'tenants.roleChanged': (name, role) => `${name} hat jetzt die Rolle ${role}`,
  'tenants.newRole': 'Neue Rolle',
  'tenants.editRole': (name) => `Rolle ${name} bearbeiten`,
  'tenants.deleteRole': (name) => `Rolle ${name} löschen`,
  'tenants.deleteRoleTitle': (name) => `Rolle ${name} löschen?`,
  'tenants.deleteRoleUnused': 'Kein Mitglied hat diese Rolle.',
  'tenants.deleteRoleUsed': (count) =>
    plural(count, {
      one: '# Mitglied hat diese Rolle. Geben Sie dem Mitglied zuerst eine andere Rolle; vorher lässt sich die Rolle nicht löschen.',
      other:
        '# Mitglieder haben diese Rolle. Geben Sie ihnen zuerst eine andere Rolle; vorher lässt sich die Rolle nicht löschen.',
    }),
  'tenants.rolesHint':
    'Jeder Mandant hat die Rollen member, admin und owner. Sie lassen sich weder umbenennen noch löschen.',
  'tenants.seeded': 'eingebaut',
  'tenants.seededHint': 'Eingebaute Rollen können nicht umbenannt werden.',
  'tenants.permissions': 'Berechtigungen',
  'tenants.noPermissions': 'keine Berechtigungen',
  'tenants.permissionAppsRead': 'Mandanten und seine Anwendungen lesen',
  'tenants.permissionAppsConfigure': 'Einstellungen lesen und ändern',
  'tenants.permissionMembers': 'Mitglieder verwalten',
  'tenants.permissionInvites': 'Personen einladen',
  'tenants.ownSettings': 'Einstellungen dieses Mandanten',
  'tenants.applicationSettings': 'Eigene Einstellungen von Anwendungen',
  'tenants.keys': (count) => plural(count, { one: '# Schlüssel', other: '# Schlüssel' }),
  'tenants.noSettings': 'Der Mandant setzt selbst nichts. Er erbt alle Werte.',
  'tenants.emptyText': 'leerer Text',
  'tenants.openSettings': 'Einstellungen öffnen',
  'tenants.copySettings': 'Konfiguration kopieren',
  'tenants.copyTitle': (name) => `Konfiguration nach ${name} kopieren`,
  'tenants.copyHint':
    'Die eigenen Einstellungen der gewählten Anwendungen werden durch die eines anderen Mandanten ersetzt. Ob eine Anwendung an ist, ändert sich nicht.',
  'tenants.copySource': 'Von Mandant kopieren',
  'tenants.copyNothing': 'Nichts zu kopieren',
  'tenants.copyNothingHint': 'Die beiden Mandanten haben keine gemeinsame Anwendung.',
  'tenants.copyBrings': (count) =>
    plural(count, { one: 'bringt # Einstellung', other: 'bringt # Einstellungen' }),
  'tenants.copyReplaces': (count) => `ersetzt ${count}`,
  'tenants.copyNoSource': 'Wählen Sie den Mandanten, von dem kopiert wird',
  'tenants.copyNoChoice': 'Wählen Sie mindestens eine Anwendung',
  'tenants.copySubmit': (count) =>
    plural(count, { one: '# Anwendung kopieren', other: '# Anwendungen kopieren' }),
  'tenants.copied': (count, tenant) =>
    plural(count, {
      one: 'Einstellungen von # Anwendung',
      other: 'Einstellungen von # Anwendungen',
    }) + ` nach ${tenant} kopiert`,
  'tenants.copyFailed': (name, message) => `${name} wurde nicht kopiert: ${message}`,
  'tenants.deleteTitle': (name) => `Mandant ${name} löschen?`,
  'tenants.countRows': (count) =>
    plural(count, { one: 'Verknüpfung mit einer Anwendung', other: 'Verknüpfungen mit Anwendungen' }),
  'tenants.countSettings': (count) =>
    plural(count, { one: 'Einstellung des Mandanten', other: 'Einstellungen des Mandanten' }),
  'tenants.countApplicationSettings': (count) =>
    plural(count, {
      one: 'eigene Einstellung von Anwendungen',
      other: 'eigene Einstellungen von Anwendungen',
    }),
  'tenants.countRoles': (count) => plural(count, { one: 'Rolle', other: 'Rollen' }),
}
