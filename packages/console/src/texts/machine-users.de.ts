// German texts for sections/machine-users.
import type { machineUsers as english } from './machine-users.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')
const days = (count: number): string => plural(count, { one: '# Tag', other: '# Tage' })

export const machineUsers: TextsOf<typeof english> = {
  // list
  'machineUsers.one': 'Maschinenbenutzer',
  'machineUsers.new': 'Neuer Maschinenbenutzer',
  'machineUsers.search': 'Name oder Kennung',
  'machineUsers.name': 'Name',
  'machineUsers.environment': 'Umgebung',
  'machineUsers.status': 'Status',
  'machineUsers.enabled': 'aktiv',
  'machineUsers.disabled': 'deaktiviert',
  'machineUsers.age': 'Token-Alter',
  'machineUsers.toRotate': 'zu erneuern:',
  'machineUsers.passwordAge': 'Passwort-Alter',
  'machineUsers.olderThan': (count) => `älter als ${days(count)}`,
  'machineUsers.days': (count) => (count <= 0 ? '< 1 Tag' : days(count)),
  'machineUsers.lastUse': 'Letzte Nutzung',
  'machineUsers.created': 'Angelegt',
  'machineUsers.changed': 'Geändert',
  'machineUsers.empty': 'Noch keine Maschinenbenutzer',
  'machineUsers.emptyHint':
    'Ein Maschinenbenutzer ist das Konto eines Backends in einer Umgebung. Mit seinem Token meldet sich das Backend an, um Endpunkte aufzurufen und Rückrufe zu empfangen.',
  'machineUsers.noMatch': 'Kein Maschinenbenutzer passt',
  'machineUsers.noMatchHint':
    'Die Filter blenden alle Maschinenbenutzer aus. Eine Kennung muss vollständig übereinstimmen.',
  'machineUsers.noneOld': 'Kein Token zu erneuern',
  'machineUsers.noneOldHint': (count) =>
    `Kein aktiver Maschinenbenutzer, der zu den Filtern passt, hat ein Token, das älter als ${days(count)} ist.`,

  // panel
  'machineUsers.readOnly': 'Mit Ihrer Rolle können Sie diesen Maschinenbenutzer nur ansehen.',
  'machineUsers.credential': 'Anmeldung',
  'machineUsers.tokenPrefix': 'Token mit dem Anfang',
  'machineUsers.userName': 'Benutzername',
  'machineUsers.rotated': 'erneuert',
  'machineUsers.neverRotated': 'nie erneuert',
  'machineUsers.useDelay': 'stündlich erfasst',
  'machineUsers.isDisabled':
    'Der Maschinenbenutzer ist deaktiviert: Seine Aufrufe werden abgewiesen. Seine Zugangsdaten bleiben gültig.',
  'machineUsers.isOld': (count) => `Die Zugangsdaten sind ${days(count)} alt.`,
  'machineUsers.rotateNow': 'Erneuern Sie sie und geben Sie die neuen an das Backend.',
  'machineUsers.account': 'Konto',
  'machineUsers.rename': 'Umbenennen',
  'machineUsers.renameTitle': (name) => `${name} umbenennen`,
  'machineUsers.backends': 'Backends',
  'machineUsers.noBackends': 'Kein Backend hat sich mit diesem Maschinenbenutzer registriert.',
  'machineUsers.live': 'aktiv',
  'machineUsers.notLive': 'nicht aktiv',
  'machineUsers.noVersion': 'Version unbekannt',

  // endpoint access
  'machineUsers.access': 'Zugriff auf Endpunkte',
  'machineUsers.allowedOf': (allowed, total) => `${allowed} von ${total}`,
  'machineUsers.change': 'Ändern',
  'machineUsers.showAll': 'Alle anzeigen',
  'machineUsers.noAccess': 'Der Maschinenbenutzer darf keinen Endpunkt aufrufen.',
  'machineUsers.noEndpoints': 'Das Projekt hat noch keine Endpunkte.',
  'machineUsers.noEndpointMatch': 'Kein Endpunkt passt.',
  'machineUsers.searchEndpoints': 'Endpunkte suchen',
  'machineUsers.someEndpoints':
    'Eine Anwendung hat mehr als 100 Endpunkte; nur die ersten 100 sind aufgeführt.',
  'machineUsers.accessHint': 'Ein Schalter speichert sofort und gilt für den nächsten Aufruf.',
  'machineUsers.endpointOff': 'Endpunkt aus',
  'machineUsers.offSince': (date) => `aus seit ${date}`,
  'machineUsers.allowed': (user, endpoint) => `${user} darf ${endpoint} aufrufen`,
  'machineUsers.forbidden': (user, endpoint) => `${user} darf ${endpoint} nicht mehr aufrufen`,
  'machineUsers.removeAccess': (endpoint) => `Zugriff auf ${endpoint} entfernen`,
  'machineUsers.removeAccessTitle': (endpoint) => `Zugriff auf ${endpoint} entfernen?`,
  'machineUsers.removeAccessHint': (user) =>
    `Aufrufe dieses Endpunkts durch ${user} werden abgewiesen. Um die Zeile zu behalten, schalten Sie stattdessen den Schalter aus. Umgebung:`,
  'machineUsers.accessRemoved': (user, endpoint) => `Zugriff von ${user} auf ${endpoint} entfernt`,

  // create
  'machineUsers.kind': 'Anmeldung',
  'machineUsers.kindToken': 'Token (empfohlen)',
  'machineUsers.kindPassword': 'Benutzername und Passwort',
  'machineUsers.kindHint':
    'Die Zugangsdaten werden erzeugt und einmal gezeigt. Nutzen Sie ein Passwort nur für Aufrufer, die kein Token senden können.',
  'machineUsers.userNameHint': 'Eindeutig im Projekt, ohne Doppelpunkt.',
  'machineUsers.nameHint': 'Zum Beispiel der Name des Backends.',
  'machineUsers.protected': 'geschützt',
  'machineUsers.chooseEnvironment': 'Wählen Sie zuerst eine Umgebung',
  'machineUsers.noEnvironments': 'Das Projekt hat keine Umgebungen',

  // secret
  'machineUsers.token': 'Token',
  'machineUsers.password': 'Passwort',
  'machineUsers.tokenTitle': (name) => `Token von ${name}`,
  'machineUsers.passwordTitle': (name) => `Passwort von ${name}`,
  'machineUsers.giveToken': 'Geben Sie dieses Token an das Backend. Umgebung:',
  'machineUsers.givePassword': (userName) =>
    `Der Aufrufer meldet sich mit dem Benutzernamen ${userName} und diesem Passwort an. Umgebung:`,
  'machineUsers.oldStopped': (time) => `Die bisherigen Zugangsdaten gelten seit ${time} nicht mehr.`,

  // rotate, disable, delete
  'machineUsers.rotate': 'Token erneuern',
  'machineUsers.rotatePassword': 'Passwort erneuern',
  'machineUsers.rotateTitle': (name) => `Token von ${name} erneuern?`,
  'machineUsers.rotatePasswordTitle': (name) => `Passwort von ${name} erneuern?`,
  'machineUsers.rotateHint':
    'Die bisherigen Zugangsdaten gelten sofort nicht mehr. Aufrufer, die sie verwenden, schlagen fehl, bis sie die neuen haben. Umgebung:',
  'machineUsers.lastUsed': 'Letzte Nutzung:',
  'machineUsers.disable': 'Deaktivieren',
  'machineUsers.disableTitle': (name) => `${name} deaktivieren?`,
  'machineUsers.disableHint':
    'Seine Aufrufe werden sofort abgewiesen, und seine Backends erhalten keine Rückrufe. Die Zugangsdaten bleiben gültig, Sie können den Maschinenbenutzer also wieder aktivieren. Umgebung:',
  'machineUsers.enable': 'Aktivieren',
  'machineUsers.wasEnabled': (name) => `${name} aktiviert`,
  'machineUsers.wasDisabled': (name) => `${name} deaktiviert`,
  'machineUsers.deleteTitle': (name) => `Maschinenbenutzer ${name} löschen?`,
  'machineUsers.deleteHint': 'Seine Zugangsdaten gelten sofort nicht mehr. Umgebung:',
  'machineUsers.deleteCalls':
    'Ein Maschinenbenutzer mit protokollierten Aufrufen lässt sich nicht löschen, weil das Protokoll auf ihn verweist. Deaktivieren Sie ihn stattdessen.',
  'machineUsers.disableInstead': 'Stattdessen deaktivieren',
  'machineUsers.countAccess': (count) =>
    plural(count, { one: 'Zugriff auf einen Endpunkt', other: 'Zugriffe auf Endpunkte' }),
  'machineUsers.countBackends': (count) =>
    plural(count, { one: 'registriertes Backend', other: 'registrierte Backends' }),
}
