// German texts for sections/system.
import { createPlural } from './plural.ts'
import type { system as english } from './system.en.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const system: TextsOf<typeof english> = {
  // people
  'system.active': 'Aktiv',
  'system.changeRole': 'Systemrolle ändern',
  'system.changeRoleOf': (name) => `Systemrolle von ${name} ändern`,
  'system.deactivate': 'Deaktivieren',
  'system.deactivated': 'Deaktiviert',
  'system.deactivatedByAdministrator': (date) => `Von einem Administrator am ${date}`,
  'system.deactivatedByScim': (date) => `Vom Identitätsanbieter am ${date}`,
  'system.deactivatedToast': (name) => `${name} wurde deaktiviert`,
  'system.deactivateHint':
    'Der Manager lehnt alle Anfragen dieser Person sofort ab. Offene Seiten schließen sich innerhalb von 2 s.',
  'system.deactivateKeeps': 'Rollen und Token bleiben. Sie gelten wieder, wenn Sie die Person reaktivieren.',
  'system.deactivateScimHint': 'Der Identitätsanbieter kann diese Deaktivierung nicht aufheben.',
  'system.deactivateTitle': (name) => `${name} deaktivieren?`,
  'system.lastAdministrator':
    'Die Installation hat keinen anderen Administrator. Ernennen Sie zuerst einen weiteren.',
  'system.liftedToast': (name) => `Die Deaktivierung von ${name} durch einen Administrator wurde aufgehoben`,
  'system.noAccess':
    'Diese Seite verwaltet die ganze Installation. Wenn Sie sie brauchen, bitten Sie einen Administrator um die Rolle.',
  'system.noAccessTitle': 'Nur Administratoren können diese Seite öffnen',
  'system.noPeopleHint':
    'Ein Text mit @ wird in E-Mail-Adressen gesucht, andere Texte in Namen. Personen erscheinen nach ihrer ersten Anmeldung, oder wenn ein Identitätsanbieter sie anlegt.',
  'system.ownDeactivation':
    'Sie können sich nicht selbst deaktivieren. Bitten Sie einen anderen Administrator.',
  'system.ownRoleHint':
    'Sie verlieren sofort den Zugriff auf diese Seite. Nur ein anderer Administrator kann das rückgängig machen.',
  'system.profileHint': 'Name und E-Mail-Adresse stammen aus der Anmeldung der Organisation.',
  'system.provisioned': 'Provisioniert',
  'system.provisionedHint': 'Der Identitätsanbieter verwaltet den Namen und die E-Mail-Adresse.',
  'system.reactivate': 'Reaktivieren',
  'system.reactivatedToast': (name) => `${name} wurde reaktiviert`,
  'system.reactivateHint': 'Die Person kann den Manager wieder benutzen, mit denselben Rollen und Token.',
  'system.reactivateScimHint':
    'Auch der Identitätsanbieter hat die Person deaktiviert. Sie bleibt deaktiviert, bis er sie reaktiviert.',
  'system.reactivateTitle': (name) => `${name} reaktivieren?`,
  'system.role.administrator': 'Hat jede Berechtigung in jedem Projekt und verwaltet Benutzer',
  'system.role.user': 'Hat nur die Berechtigungen der Mitgliedschaften',
  'system.roleChanged': (name, role) => `${name} hat jetzt die Systemrolle ${role}`,
  'system.searchPeople': 'Name, E-Mail oder Benutzerkennung',
  'system.status': 'Status',
  'system.view.people': 'Personen',
  'system.view.roles': 'Rollen',

  // roles
  'system.held': 'ja',
  'system.needs.administrator': 'Administratoren',
  'system.needs.anyMembership': 'jede Mitgliedschaft im Projekt',
  'system.needs.anyProject': (role) => `Projektrolle ${role} oder höher in einem beliebigen Projekt`,
  'system.needs.application': (role) => `Anwendungsrolle ${role} oder höher`,
  'system.needs.project': (role) => `Projektrolle ${role} oder höher`,
  'system.needs.tenant': (permission) => `Mandantenberechtigung ${permission}`,
  'system.needs.user': 'jede angemeldete Person',
  'system.noRight': 'Keine Berechtigung passt',
  'system.notHeld': 'nein',
  'system.or': ' oder ',
  'system.permission': 'Berechtigung',
  'system.rightsCount': (count) => plural(count, { one: '# Berechtigung', other: '# Berechtigungen' }),
  'system.permissionsOf': 'Berechtigungen von',
  'system.searchRights': 'Berechtigung oder Rolle',

  // tokens
  'system.chooseProject': 'Wählen Sie ein Projekt',
  'system.chooseProjectHint': 'Hier stehen dann seine Maschinenbenutzer mit einem alten Token.',
  'system.days': (count) => plural(count, { one: '# Tag', other: '# Tage' }),
  'system.environment': 'Umgebung',
  'system.expiresAny': 'beliebig',
  'system.expiresWithin': (days) => `in ${days} Tagen`,
  'system.lastTokenUse': 'Letzte Token-Nutzung',
  'system.machineUser': 'Maschinenbenutzer',
  'system.noMachineUserMatches': 'Kein Maschinenbenutzer passt',
  'system.noOldTokens': 'Kein Token muss erneuert werden',
  'system.noOldTokensHint':
    'Die Liste zeigt aktive Maschinenbenutzer, deren Token älter als das gewählte Alter ist.',
  'system.noTokenMatchHint':
    'Der Filter blendet alle Token aus. Die Suche umfasst Personen, Namen und Anfänge von Token.',
  'system.noTokens': 'Keine persönlichen Zugriffstoken',
  'system.noTokensHint':
    'Hier erscheinen Token, die Personen für Skripte und Kommandozeilenprogramme erstellen.',
  'system.noTokensOfPerson': 'Diese Person hat keine Token.',
  'system.olderThan': (days) => `älter als ${days} Tage`,
  'system.personalTokens': 'Persönliche Zugriffstoken',
  'system.readMoreTokens': (count) => `${count} weitere lesen`,
  'system.rotated': 'Zuletzt erneuert',
  'system.searchMachineUsers': 'Name des Maschinenbenutzers',
  'system.searchTokens': 'Person, Token oder Anfang',
  'system.tokenAge': 'Token-Alter',
  'system.tokenNotRead': 'Es wurde gelöscht oder ist älter als die Token, die diese Seite gelesen hat.',
  'system.tokenStatus.any': 'alle',
  'system.tokenStatus.unusable': 'abgelaufen oder widerrufen',
  'system.tokenStatus.usable': 'gültig',
  'system.tokens.machine': 'Maschinenbenutzer',
  'system.tokens.personal': 'Persönlich',
  'system.tokensPartial': (count, total) =>
    `Die neuesten ${count} von ${total} Token wurden durchsucht. Ältere Token fehlen in der Liste.`,
}
