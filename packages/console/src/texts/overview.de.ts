// German texts for the start page and the overview.
import type { overview as english } from './overview.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const overview: TextsOf<typeof english> = {
  // projects
  'projects.title': 'Projekte',
  'projects.clearFilter': 'Filter entfernen',
  'projects.empty': 'Noch keine Projekte',
  'projects.emptyForCreator':
    'Legen Sie ein Projekt an, um ihm Mandanten, Anwendungen und Mitglieder zuzuordnen.',
  'projects.emptyHint': 'Projekte erscheinen hier, sobald Sie in eines aufgenommen werden.',
  'projects.last': 'zuletzt geöffnet',
  'projects.noMatch': 'Kein Projekt passt',
  'projects.noMatchHint': (text) => `Kein Projekt, das Sie öffnen können, hat „${text}“ im Namen.`,

  // overview
  'overview.affected': (count) =>
    plural(count, { one: '# Anwendung betroffen', other: '# Anwendungen betroffen' }),
  'overview.allLive': 'jedes registrierte Backend ist aktiv',
  'overview.application': 'Anwendung',
  'overview.asleep': 'Schläft',
  'overview.backends': 'Backends',
  'overview.bars': (name, bars, highest) =>
    `${name}: ${bars} Balken vom ältesten zum neuesten, höchstens ${highest} Fehler in einem`,
  'overview.before': (count) => `${count} zuvor`,
  'overview.callLog': 'Aufrufprotokoll',
  'overview.changes': 'Letzte Änderungen',
  'overview.daysOld': (count) => plural(count, { one: '# Tag alt', other: '# Tage alt' }),
  'overview.endpoint': 'Endpunkt',
  'overview.endpoints': 'Endpunkte mit fehlgeschlagenen Aufrufen',
  'overview.expires': (days) =>
    days === 0 ? 'läuft heute ab' : plural(days, { one: 'läuft in # Tag ab', other: 'läuft in # Tagen ab' }),
  'overview.expiring': (count) =>
    plural(count, { one: '# läuft in 14 Tagen ab', other: '# laufen in 14 Tagen ab' }),
  'overview.failed': 'Fehler',
  'overview.failedCalls': 'Fehlgeschlagene Aufrufe',
  'overview.failedRuns': 'Fehlgeschlagene Läufe',
  'overview.hiddenApplications': (count) =>
    plural(count, {
      one: '# weitere Anwendung wird nicht gezeigt.',
      other: '# weitere Anwendungen werden nicht gezeigt.',
    }),
  'overview.lastReason': 'Letzter Grund',
  'overview.live': (count) => `${count} aktiv`,
  'overview.liveBackends': 'Aktive Backends',
  'overview.noAccess': 'Sie sind nicht Mitglied des ganzen Projekts',
  'overview.noAccessHint':
    'Wählen Sie einen Bereich im Menü. Er zeigt die Mandanten und Anwendungen Ihrer Rollen.',
  'overview.noApplications': 'Das Projekt hat noch keine Anwendungen.',
  'overview.noBackends': 'kein Backend ist registriert',
  'overview.noChanges': 'Es wurde noch nichts geändert.',
  'overview.noFailedCalls': 'In diesem Zeitraum ist kein Aufruf fehlgeschlagen.',
  'overview.noTokens': 'Kein Token läuft in 14 Tagen ab, und kein Maschinen-Token ist älter als 90 Tage.',
  'overview.none': 'Keine',
  'overview.noneInRange': 'keine in diesem Zeitraum',
  'overview.of': (total) => `von ${total}`,
  'overview.old': (count) => `${count} älter als 90 Tage`,
  'overview.oldestHeartbeat': 'Ältester Heartbeat',
  'overview.overTime': 'Verlauf',
  'overview.partlyLive': (live, total) => `${live} von ${total} aktiv`,
  'overview.range': 'Zeitraum',
  'overview.range.1h': '1 h',
  'overview.range.24h': '24 h',
  'overview.range.7d': '7 T',
  'overview.refresh': 'Neu laden',
  'overview.share': (share, total) => `${share} von ${total}`,
  'overview.since': (time) => `Seit ${time}`,
  'overview.status': (status) => `Status ${status}`,
  'overview.tokens': 'Zu erneuernde Tokens',
}
