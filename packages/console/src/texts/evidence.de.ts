// German texts for sections/evidence.
import type { evidence as english } from './evidence.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const evidence: TextsOf<typeof english> = {
  // queries
  'evidence.controls': 'Nachweis für',
  'evidence.name': 'Name in der API',
  'evidence.noQuery': 'Keine Abfrage passt',
  'evidence.noQueryHint': 'Gesucht wird in Titeln, Beschreibungen und Anforderungen.',
  'evidence.queries': 'Nachweisabfragen',
  'evidence.query': 'Abfrage',
  'evidence.recorded': 'Jede Ausführung wird im Audit-Protokoll aufgezeichnet.',
  'evidence.searchQueries': 'Abfrage oder Anforderung',
  'evidence.view.chains': 'Audit-Ketten',
  'evidence.view.queries': 'Abfragen',

  // run
  'evidence.allQueries': 'Alle Abfragen',
  'evidence.asOf': 'Stand',
  'evidence.broken': 'Das Audit-Protokoll ist beschädigt. Verlassen Sie sich nicht auf diese Zeilen.',
  'evidence.content': 'Inhalt',
  'evidence.defaultWindow': 'letzte 90 Tage',
  'evidence.from': 'Von',
  'evidence.noMatch': 'Keine Zeile passt',
  'evidence.noMatchHint': 'Gesucht wird in allen Werten der Zeilen.',
  'evidence.noRow': 'Keine solche Zeile',
  'evidence.noRowHint': 'Die Zeile liegt außerhalb des Zeitraums, oder die Suche blendet sie aus.',
  'evidence.noRows': 'Keine Zeilen in diesem Zeitraum',
  'evidence.noRowsHint':
    'Die Abfrage hat nichts gefunden. Wählen Sie einen längeren Zeitraum, um weiter zurückzusehen.',
  'evidence.row': 'Zeile',
  'evidence.rowCount': 'Zeilen',
  'evidence.rows': (count) => plural(count, { one: '# Zeile', other: '# Zeilen' }),
  'evidence.rowsOf': (count, total) => `${count} von ${total}`,
  'evidence.runAgain': 'Erneut ausführen',
  'evidence.searchRows': 'Beliebiger Wert',
  'evidence.tooLarge': 'Das Ergebnis ist zu groß für diese Seite',
  'evidence.tooLargeHint': 'Wählen Sie einen kürzeren Zeitraum, oder exportieren Sie eine CSV-Datei.',
  'evidence.trail': 'Audit-Protokoll',
  'evidence.truncated': (count) =>
    `Hier sind nur die neuesten ${count} Zeilen, weil mehr passen. Wählen Sie einen kürzeren Zeitraum.`,
  'evidence.until': 'Bis, nicht enthalten',
  'evidence.verdict.broken': 'beschädigt',
  'evidence.verdict.empty': 'Das Audit-Protokoll ist leer.',
  'evidence.verdict.ok': 'Das Audit-Protokoll ist unversehrt.',
  'evidence.verifiedEntries': (count) => `${count} Einträge geprüft`,

  // chains
  'evidence.brokenIn': (projects) => `Die Audit-Kette ist beschädigt in: ${projects}.`,
  'evidence.chain.broken': 'beschädigt',
  'evidence.chain.empty': 'leer',
  'evidence.chain.ok': 'unversehrt',
  'evidence.chain.unverified': 'noch nicht geprüft',
  'evidence.chains': 'Audit-Ketten',
  'evidence.entries': 'Einträge',
  'evidence.noProject': 'Kein Projekt passt',
  'evidence.noProjectHint': 'Gesucht wird in den Namen der Projekte.',
  'evidence.now.broken': 'beschädigt, gerade geprüft',
  'evidence.now.empty': 'leer',
  'evidence.now.ok': 'unversehrt, gerade geprüft',
  'evidence.now.unverified': 'nicht geprüft',
  'evidence.sealed': 'Letzte Versiegelung',
  'evidence.searchProjects': 'Projekt',
  'evidence.state': 'Kette',
  'evidence.verdictAll': (count) =>
    `Der Manager meldet alle ${count} Einträge des Protokolls als unversehrt, auch die ohne Projekt.`,
  'evidence.verifiedAll': (projects, entries) =>
    plural(projects, {
      one: `Kette von # Projekt geprüft (${entries} Einträge): unversehrt.`,
      other: `Ketten von # Projekten geprüft (${entries} Einträge): unversehrt.`,
    }),
  'evidence.verifiedUpTo': 'Geprüft bis',
  'evidence.verifyNow': 'Jetzt prüfen',
  'evidence.verifying': (done, total, entries, project) =>
    `${done} von ${total} Projekten · ${entries} Einträge · ${project}`,

  // export
  'evidence.exported': (count) =>
    plural(count, { one: '# Eintrag gespeichert.', other: '# Einträge gespeichert.' }),
  'evidence.exportHint':
    'Die Datei enthält die Einträge aller Projekte und der Installation. Ohne Tage enthält sie alle Einträge. Jeder Export wird im Audit-Protokoll aufgezeichnet.',
  'evidence.exportIncomplete':
    'Die signierte letzte Zeile fehlt, also ist die Datei unvollständig. Nichts wurde gespeichert. Versuchen Sie es erneut.',
  'evidence.exporting': (entries, size) => `${entries} Einträge · ${size}`,
  'evidence.exportSigned': (size) => `${size}. Die letzte Zeile signiert die Datei.`,
  'evidence.exportTitle': 'Audit-Protokoll der Installation exportieren',
  'evidence.exportTooLarge':
    'Die Datei ist zu groß für diese Seite. Der Browser kann sie herunterladen, ohne Fortschrittsanzeige.',
  'evidence.exportTrail': 'Protokoll exportieren',
}
