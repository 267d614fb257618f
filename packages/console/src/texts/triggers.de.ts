// German texts for sections/triggers.
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'
import type { triggers as english } from './triggers.en.ts'

const plural = createPlural('de')

export const triggers: TextsOf<typeof english> = {
  // list
  'triggers.one': 'Trigger',
  'triggers.new': 'Neuer Trigger',
  'triggers.search': 'Name, Laufschlüssel oder Kennung',
  'triggers.name': 'Name',
  'triggers.application': 'Anwendung',
  'triggers.status': 'Status',
  'triggers.enabled': 'aktiv',
  'triggers.disabled': 'deaktiviert',
  'triggers.schedule': 'Zeitplan',
  'triggers.nextRun': 'Nächster Lauf',
  'triggers.lastRuns': 'Letzte Läufe',
  'triggers.noRun': 'noch keiner',
  'triggers.changed': 'Geändert',
  'triggers.created': 'Angelegt',
  'triggers.empty': 'Noch keine Trigger',
  'triggers.emptyHint':
    'Ein Trigger ruft die Backends einer Anwendung nach einem Zeitplan auf, einmal in jeder Umgebung mit Backends.',
  'triggers.noApplications': 'Legen Sie zuerst eine Anwendung an. Ein Trigger gehört zu einer Anwendung.',
  'triggers.noMatch': 'Kein passender Trigger',
  'triggers.noMatchHint': 'Die Filter blenden alle Trigger aus. Eine Kennung muss vollständig sein.',
  'triggers.incomplete':
    'Nur die ersten 100 Trigger jeder Anwendung sind aufgeführt. Wählen Sie eine Anwendung, um alle ihre Trigger zu sehen.',

  // panel
  'triggers.readOnly': 'Mit Ihrer Rolle können Sie diesen Trigger nur ansehen.',
  'triggers.isDisabled':
    'Der Trigger ist deaktiviert: Er feuert nicht. Sie können ihn trotzdem jetzt ausführen.',
  'triggers.edit': 'Bearbeiten',
  'triggers.editTitle': (name: string) => `${name} bearbeiten`,
  'triggers.expression': 'Ausdruck',
  'triggers.runKey': 'Laufschlüssel',
  'triggers.noRunKey': 'keiner',
  'triggers.description': 'Beschreibung',
  'triggers.details': 'Details',
  'triggers.runKeyHint': 'Backends erhalten ihn und wählen damit die Arbeit aus.',
  'triggers.nextRuns': 'Nächste Läufe',
  'triggers.nextRunsIfEnabled': 'wenn der Trigger jetzt aktiv wäre',
  'triggers.noNextRuns': 'Der Zeitplan hat keinen weiteren Lauf.',
  'triggers.yourTime': (time: string) => `${time} Ihre Zeit`,
  'triggers.utcTime': (time: string) => `${time} UTC`,
  'triggers.allRuns': 'Alle Läufe',
  'triggers.enable': 'Aktivieren',
  'triggers.disable': 'Deaktivieren',
  'triggers.wasEnabled': (name: string) => `${name} aktiviert`,
  'triggers.wasDisabled': (name: string) => `${name} deaktiviert`,

  // create and edit
  'triggers.noApplication': 'Wählen Sie zuerst eine Anwendung',
  'triggers.zone': 'Zeitzone',
  'triggers.moreZones': (count: string) => `${count} passen. Geben Sie mehr vom Namen ein.`,
  'triggers.expressionHint': 'Minute, Stunde, Monatstag, Monat, Wochentag. Oder @hourly, @daily, @weekly …',
  'triggers.invalid': (problem: string) => `Der Ausdruck: ${problem}`,
  'triggers.previewFailed': 'Die nächsten Läufe können jetzt nicht berechnet werden.',
  'triggers.enabledLabel': 'Aktiv',
  'triggers.part.zone': 'Zone',
  'triggers.part.minute': 'Minute',
  'triggers.part.hour': 'Stunde',
  'triggers.part.day': 'Tag',
  'triggers.part.month': 'Monat',
  'triggers.part.weekday': 'Wochentag',

  // cron in words
  'triggers.cron.at': (times: string) => `Um ${times} Uhr`,
  'triggers.cron.everyDay': 'täglich',
  'triggers.cron.minutes': (step: number) =>
    step === 1 ? 'Jede Minute' : plural(step, { other: 'Alle # Minuten' }),
  'triggers.cron.hourly': 'Jede Stunde',
  'triggers.cron.hours': (step: number) => plural(step, { other: 'Alle # Stunden' }),
  'triggers.cron.onTheHour': 'zur vollen Stunde',
  'triggers.cron.atMinutes': (minutes: string, count: number) =>
    `zu ${plural(count, { one: 'Minute', other: 'den Minuten' })} ${minutes}`,
  'triggers.cron.range': (from: string, to: string) => `von ${from} bis ${to} Uhr`,
  'triggers.cron.inHours': (hours: string) => `in den Stunden ${hours}`,
  'triggers.cron.through': (from: string, to: string) => `${from} bis ${to}`,
  'triggers.cron.days': (days: string, count: number) =>
    `${plural(count, { one: 'am Tag', other: 'an den Tagen' })} ${days} des Monats`,
  'triggers.cron.daysOr': (days: string, weekdays: string) => `${days} und außerdem jeden ${weekdays}`,
  'triggers.cron.daysIf': (days: string, weekdays: string) => `${days}, aber nur wenn es ${weekdays} ist`,
  'triggers.cron.months': (months: string, count: number) =>
    `${plural(count, { one: 'im Monat', other: 'in den Monaten' })} ${months}`,
  'triggers.cron.zone': (place: string) => `Zeitzone ${place}`,

  // delete
  'triggers.deleteTitle': (name: string) => `Trigger ${name} löschen?`,
  'triggers.countRuns': (count: number) =>
    plural(count, {
      one: 'aufgezeichneter Lauf wird nicht mehr angezeigt',
      other: 'aufgezeichnete Läufe werden nicht mehr angezeigt',
    }),

  // runs
  'triggers.runs': 'Läufe',
  'triggers.backToList': 'Alle Trigger',
  'triggers.runsOf': (name: string) => `Läufe von ${name}`,
  'triggers.timeline': 'Zeitachse',
  'triggers.timelineHint': 'die neuesten Zeitpunkte',
  'triggers.planned': 'geplant',
  'triggers.skipped': 'übersprungen',
  'triggers.mark': (environment: string, outcome: string, time: string) =>
    `${environment}: ${outcome}, ${time}`,
  'triggers.laneOf': (environment: string) => `Läufe in ${environment}`,
  'triggers.plannedAt': 'Geplant',
  'triggers.environment': 'Umgebung',
  'triggers.outcome': 'Ergebnis',
  'triggers.attempts': 'Versuche',
  'triggers.response': 'Antwort',
  'triggers.why': 'Grund',
  'triggers.took': 'Dauer',
  'triggers.noRuns': 'Noch keine Läufe',
  'triggers.noRunsHint':
    'Ein Lauf erscheint hier, wenn der Trigger feuert. In Umgebungen ohne registriertes Backend wird kein Lauf aufgezeichnet.',
  'triggers.noRunMatch': 'Kein passender Lauf',
  'triggers.noRunMatchHint': 'Die Filter blenden alle Läufe des Triggers aus.',
  'triggers.searchOlder': 'Ältere Läufe durchsuchen',
  'triggers.searchedSome': 'Die neuesten 10.000 Läufe wurden durchsucht. Ältere Läufe können passen.',
  'triggers.oneRun': 'Lauf',
  'triggers.runTitle': (time: string) => `Lauf vom ${time}`,
  'triggers.startedAt': 'Erster Versuch',
  'triggers.endedAt': 'Beendet',
  'triggers.stillRunning': 'noch nicht',
  'triggers.notCalled': 'kein Aufruf',
  'triggers.noResponse': 'keine Antwort',
  'triggers.noResponseYet': 'noch keine',
  'triggers.responseStatus': (status: string) => `Status ${status}`,
  'triggers.origin': 'Herkunft',
  'triggers.startedBy': 'Gestartet von',
  'triggers.bySchedule': 'Zeitplan',
  'triggers.retryOf': 'Wiederholung von',
  'triggers.previousRun': 'einem anderen Lauf',
  'triggers.retriesLeft':
    'Der Manager wiederholt einen Versuch ohne Antwort oder mit Status 408, 425, 429 oder 5xx.',
  'triggers.onlyLast': 'Der Manager zeichnet die Antwort des letzten Versuchs auf.',
  'triggers.outcome.pending': 'ausstehend',
  'triggers.outcome.delivered': 'zugestellt',
  'triggers.outcome.failed': 'fehlgeschlagen',
  'triggers.outcome.cancelled': 'abgebrochen',
  'triggers.outcome.skipped_no_backend': 'übersprungen, kein Backend',
  'triggers.outcome.skipped_overlap': 'übersprungen, Überlappung',
  'triggers.outcome.missed': 'verpasst',
  'triggers.reason.skipped_no_backend': 'Zu diesem Zeitpunkt war kein Backend der Anwendung erreichbar.',
  'triggers.reason.skipped_overlap': 'Der vorherige Lauf war zu diesem Zeitpunkt noch nicht beendet.',
  'triggers.reason.missed':
    'Der Manager lief zu diesem Zeitpunkt nicht und feuerte nur für den neuesten verpassten Zeitpunkt.',
  'triggers.failure.returned': (status: string) => `Das Backend antwortete mit Status ${status}.`,
  'triggers.failure.notLive': 'Kein Backend der Anwendung ist erreichbar.',
  'triggers.failure.disabled': 'Der Trigger wurde deaktiviert, bevor der Lauf begann.',
  'triggers.failure.stopped': 'Die Prozesse des Managers, die den Lauf zustellten, endeten zu oft.',
  'triggers.failure.address': 'Die Adresse des Backends ist nicht erlaubt.',
  'triggers.failure.handshake': 'Das Backend schloss die Verbindung während des TLS-Handshakes.',
  'triggers.failure.needsTls':
    'Das Backend verlangt TLS. Registrieren Sie es mit https:// oder einem anderen Port.',
  'triggers.failure.noTls':
    'Das Backend verwendet auf diesem Port kein TLS. Registrieren Sie es mit http:// oder einem anderen Port.',
  'triggers.failure.tls': 'Die TLS-Verbindung zum Backend ist fehlgeschlagen.',
  'triggers.failure.invalid': 'Die Antwort des Backends ist unvollständig oder ungültig.',
  'triggers.failure.refused': 'Das Backend lehnt Verbindungen ab.',
  'triggers.failure.name': 'Der Hostname des Backends kann nicht aufgelöst werden.',
  'triggers.failure.unreachable': 'Das Backend ist nicht erreichbar.',
  'triggers.failure.timeout': 'Das Backend antwortete nicht rechtzeitig.',
  'triggers.failure.headers': 'Die Header der Antwort sind zu groß.',
  'triggers.failure.large': 'Die Antwort ist zu groß.',
  'triggers.failure.interim': 'Das Backend sendete zu viele vorläufige Antworten.',
  'triggers.failure.length': 'Die Länge der Antwort passt nicht zu ihrem Content-Length.',
  'triggers.failure.request': 'Die Anfrage kann nicht an das Backend gesendet werden.',
  'triggers.failure.untrusted': 'Dem Zertifikat des Backends wird nicht vertraut.',
  'triggers.failure.expired': 'Das Zertifikat des Backends ist abgelaufen.',
  'triggers.failure.certificateName': 'Das Zertifikat des Backends gilt für einen anderen Namen.',
  'triggers.failure.busy':
    'Zu viele Aufrufe an das Backend laufen gleichzeitig. Der Manager versucht es erneut.',
  'triggers.failure.closing': 'Der Manager schließt seine Verbindungen.',
  'triggers.failure.aborted': 'Der Aufruf wurde abgebrochen.',

  // run now and retry
  'triggers.runNow': 'Jetzt ausführen',
  'triggers.runTitleNow': (name: string) => `${name} jetzt ausführen?`,
  'triggers.runHint':
    'Der Manager ruft ein erreichbares Backend der Umgebung auf. Die geplanten Zeitpunkte ändern sich nicht.',
  'triggers.chooseEnvironment': 'Wählen Sie zuerst eine Umgebung',
  'triggers.noEnvironments': 'Das Projekt hat keine Umgebungen',
  'triggers.protected': 'geschützt',
  'triggers.wasStarted': (name: string, environment: string) => `${name} in ${environment} gestartet`,
  'triggers.retry': 'Wiederholen',
  'triggers.retryTitle': (name: string) => `Diesen Lauf von ${name} wiederholen?`,
  'triggers.retryHint':
    'Der Manager startet einen neuen Lauf mit den aktuellen Werten des Triggers. Dieser Lauf ändert sich nicht. Umgebung:',
}
