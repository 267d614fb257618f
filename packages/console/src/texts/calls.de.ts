// German texts for sections/calls.
import type { calls as english } from './calls.en.ts'
import type { TextsOf } from './texts.ts'

export const calls: TextsOf<typeof english> = {
  // list
  'calls.application': 'Anwendung',
  'calls.duration': 'Dauer',
  'calls.empty': 'Noch keine Aufrufe',
  'calls.emptyHint':
    'Aufrufe der Endpunkte dieser Anwendung erscheinen hier, außer wenn die Protokollstufe des Endpunkts NONE ist.',
  'calls.endpoint': 'Endpunkt',
  'calls.incomplete':
    'Für diese Seite wurden nur 10.000 Aufrufe durchsucht. Auch ältere Aufrufe können passen.',
  'calls.machineUser': 'Maschinenbenutzer',
  'calls.ms': (value) => `${value} ms`,
  'calls.noApplication': 'Noch keine Anwendung',
  'calls.noApplicationHint':
    'Das Aufrufprotokoll gehört zu einer Anwendung. Legen Sie eine an und fügen Sie ihr einen Endpunkt hinzu.',
  'calls.noMatch': 'Kein Aufruf passt',
  'calls.noMatchHint': 'Wählen Sie eine längere Zeit oder eine andere Anwendung, oder entfernen Sie Filter.',
  'calls.noMatchYet': 'Kein Treffer unter den durchsuchten Aufrufen',
  'calls.noMatchYetHint': 'Nur 10.000 Aufrufe wurden durchsucht. Ältere Aufrufe können passen.',
  'calls.noOlder': 'Keine älteren Aufrufe',
  'calls.noOlderHint': 'Das Protokoll endet vor dieser Seite.',
  'calls.noResponse': 'keine Antwort',
  'calls.rangeTooLong': 'Die Zeit ist zu lang, um einen Text zu suchen',
  'calls.rangeTooLongHint':
    'Texte werden in höchstens 24 Stunden gesucht. Eine vollständige Anfragekennung wird zu jeder Zeit gefunden.',
  'calls.requestId': 'Anfragekennung',
  'calls.running': 'läuft',
  'calls.search': 'Text oder Anfragekennung',
  'calls.searchLastDay': 'Die letzten 24 Stunden durchsuchen',
  'calls.searchOlder': 'Ältere Aufrufe durchsuchen',
  'calls.stale': (reason) => `Nicht aktuell: ${reason}`,
  'calls.status': 'Status',
  'calls.status.2xx': '2xx, erfolgreich',
  'calls.status.3xx': '3xx, umgeleitet',
  'calls.status.4xx': '4xx, abgelehnt',
  'calls.status.5xx': '5xx, Serverfehler',
  'calls.status.failed': 'im Gateway gescheitert',
  'calls.time': 'Zeit',
  'calls.toNewest': 'Neueste Aufrufe',
  'calls.unknownEnd': 'Ende unbekannt',
  'calls.why': 'Grund',

  // timeline
  'calls.bar': (when, total, failed) => `${when}: ${total} Aufrufe, ${failed} gescheitert`,
  'calls.days': 'Aufrufe nach Tag',
  'calls.hours': 'Aufrufe nach Stunde',
  'calls.showMonth': 'Zurück zum Monat',

  // call
  'calls.asLogged': (part) => `${part}, wie protokolliert`,
  'calls.attempts': 'Aufrufe mit dieser Anfragekennung',
  'calls.beforeTemplate': 'vor der Vorlage',
  'calls.call': 'Aufruf',
  'calls.contents': 'Header und Inhalte',
  'calls.emptyBody': 'Der Inhalt ist leer.',
  'calls.mayHaveArrived':
    'Der Partner hat den Aufruf möglicherweise erhalten: Suchen Sie die Anfragekennung im Protokoll des Partners, bevor Sie ihn wiederholen.',
  'calls.noCall': 'Diesen Aufruf gibt es nicht',
  'calls.noCallHint':
    'Das Protokoll enthält keinen solchen Aufruf dieser Anwendung, oder der Aufruf ist älter als die Aufbewahrungszeit.',
  'calls.noPartnerResponse': 'Der Partner hat keine Antwort gesendet.',
  'calls.notLogged': (level) =>
    `Sie werden nur aufgezeichnet, solange die Protokollstufe des Endpunkts FULL ist. Derzeit ist sie ${level}.`,
  'calls.path': 'Pfad',
  'calls.recordedAs': 'Aufgezeichnet als',
  'calls.requestBody': 'Inhalt der Anfrage',
  'calls.requestHeaders': 'Header der Anfrage',
  'calls.response': 'Antwort',
  'calls.responseBody': 'Inhalt der Antwort',
  'calls.responseHeaders': 'Header der Antwort',
  'calls.runningHint': 'Der Aufruf läuft. Diese Seite zeigt sein Ergebnis, sobald es protokolliert ist.',
  'calls.sourceIp': 'Quell-IP',
  'calls.started': 'Beginn',
  'calls.step.access': 'Zugriff des Maschinenbenutzers',
  'calls.step.body': 'Inhalt der Anfrage',
  'calls.step.relay': 'Antwort',
  'calls.step.target': 'Ziel des Endpunkts',
  'calls.step.template': 'Vorlage',
  'calls.step.upstream': 'Aufruf des Partners',
  'calls.stepState.failed': 'gescheitert',
  'calls.stepState.passed': 'bestanden',
  'calls.stepState.skipped': 'nicht erreicht',
  'calls.stepState.unknown': 'unbekannt',
  'calls.steps': 'Wie weit er kam',
  'calls.target': 'Ziel',
  'calls.test': 'Testaufruf',
  'calls.unknownEndHint':
    'Das Ende des Aufrufs wurde nicht protokolliert, etwa weil sein Prozess beendet wurde. Der Partner hat den Aufruf möglicherweise erhalten.',

  // reasons
  'calls.reason.bodyTooLarge': 'Der Inhalt der Anfrage ist zu groß',
  'calls.reason.bodyTooSlow': 'Der Inhalt der Anfrage kam zu langsam an',
  'calls.reason.busy': 'Zu viele Umwandlungen liefen gleichzeitig',
  'calls.reason.callerLeft': 'Der Aufrufer hat die Verbindung geschlossen',
  'calls.reason.callerSlow': 'Der Aufrufer hat die Antwort zu langsam gelesen',
  'calls.reason.expired': 'Das Zertifikat des Partners ist abgelaufen',
  'calls.reason.forbiddenAddress': 'Die Adresse des Partners ist nicht erlaubt',
  'calls.reason.handshake': 'Der TLS-Handshake mit dem Partner ist gescheitert',
  'calls.reason.internal': 'Interner Fehler des Managers',
  'calls.reason.invalidResponse': 'Die Antwort des Partners ist ungültig',
  'calls.reason.loop': 'Der Endpunkt führt zum Gateway zurück',
  'calls.reason.noAccess': 'Der Maschinenbenutzer hat keinen Zugriff',
  'calls.reason.noUrl': 'Der Endpunkt hat keine URL',
  'calls.reason.other': 'Der Aufruf ist gescheitert',
  'calls.reason.otherName': 'Das Zertifikat gilt für einen anderen Namen',
  'calls.reason.partnerError': 'Der Partner hat einen Serverfehler gemeldet',
  'calls.reason.partnerRefusal': 'Der Partner hat den Aufruf abgelehnt',
  'calls.reason.plainPort': 'Der Partner verwendet auf diesem Port kein TLS',
  'calls.reason.refused': 'Der Partner lehnt Verbindungen ab',
  'calls.reason.stopping': 'Der Prozess des Managers wurde gerade beendet',
  'calls.reason.template': 'Die Vorlage ist gescheitert',
  'calls.reason.timeout': 'Der Partner hat zu lange gebraucht',
  'calls.reason.tlsPort': 'Der Partner verlangt TLS',
  'calls.reason.tooLarge': 'Die Antwort des Partners ist zu groß',
  'calls.reason.tooManyCalls': 'Zu viele Aufrufe dieses Partners liefen gleichzeitig',
  'calls.reason.transferEncoding': 'Das Transfer-Encoding wird nicht unterstützt',
  'calls.reason.unreachable': 'Der Partner ist nicht erreichbar',
  'calls.reason.unresolved': 'Der Name des Partners kann nicht aufgelöst werden',
  'calls.reason.unsendable': 'Die Anfrage kann nicht gesendet werden',
  'calls.reason.untrusted': 'Dem Zertifikat des Partners wird nicht vertraut',
  'calls.reason.wrongBody': 'Der Inhalt hat das falsche Format',

  // remedies
  'calls.remedy.bodyTooLarge':
    'Senden Sie weniger Daten je Aufruf, oder bitten Sie den Betrieb, die Grenze anzuheben.',
  'calls.remedy.bodyTooSlow':
    'Prüfen Sie das Netz zwischen Aufrufer und Manager, und wiederholen Sie den Aufruf.',
  'calls.remedy.busy': 'Nichts wurde weitergeleitet. Wiederholen Sie den Aufruf nach einer Pause.',
  'calls.remedy.callerLeft': 'Der Aufrufer hat nicht auf die Antwort gewartet. Prüfen Sie seine Zeitgrenze.',
  'calls.remedy.callerSlow': 'Prüfen Sie das Netz des Aufrufers, oder fordern Sie weniger Daten an.',
  'calls.remedy.expired': 'Bitten Sie den Partner, das Zertifikat zu erneuern.',
  'calls.remedy.forbiddenAddress':
    'Bitten Sie den Betrieb, das Netz zu erlauben, oder korrigieren Sie die URL des Endpunkts.',
  'calls.remedy.handshake':
    'Prüfen Sie den Port. Der Partner kann ein Client-Zertifikat, eine andere TLS-Version oder eine bekannte Quelladresse verlangen.',
  'calls.remedy.internal':
    'Geben Sie die Anfragekennung an den Betrieb, der die Ursache im Protokoll des Dienstes findet.',
  'calls.remedy.invalidResponse':
    'Der Server des Partners ist fehlerhaft, unterstützt HTTP/1.1 nicht oder erwartet https:// in der URL.',
  'calls.remedy.loop': 'Korrigieren Sie die URL des Endpunkts, die nicht zum Gateway selbst führen darf.',
  'calls.remedy.noAccess': 'Schalten Sie den Zugriff des Maschinenbenutzers auf diesen Endpunkt ein.',
  'calls.remedy.noUrl': 'Tragen Sie die URL des Partners im Endpunkt ein.',
  'calls.remedy.other': 'Siehe den aufgezeichneten Grund.',
  'calls.remedy.otherName':
    'Korrigieren Sie den Host in der URL des Endpunkts, oder bitten Sie den Partner um ein passendes Zertifikat.',
  'calls.remedy.partnerError':
    'Die Antwort kommt vom Partner. Suchen Sie die Anfragekennung in seinem Protokoll.',
  'calls.remedy.partnerRefusal':
    'Die Antwort kommt vom Partner. Ihr Inhalt nennt meist, was zu korrigieren ist.',
  'calls.remedy.plainPort': 'Verwenden Sie http:// oder einen anderen Port in der URL des Endpunkts.',
  'calls.remedy.refused': 'Prüfen Sie die URL des Endpunkts, und ob der Server des Partners läuft.',
  'calls.remedy.stopping': 'Wiederholen Sie den Aufruf, falls das gefahrlos ist.',
  'calls.remedy.template':
    'Nichts wurde weitergeleitet. Eine Vorschau der Vorlage mit demselben Inhalt zeigt den Fehler.',
  'calls.remedy.timeout': 'Prüfen Sie, ob der Partner den Aufruf verarbeitet hat.',
  'calls.remedy.tlsPort': 'Verwenden Sie https:// oder einen anderen Port in der URL des Endpunkts.',
  'calls.remedy.tooLarge': 'Fordern Sie weniger Daten an, oder bitten Sie den Betrieb, die Grenze anzuheben.',
  'calls.remedy.tooManyCalls':
    'Der Partner ist langsam, oder der Aufrufer sendet zu viel. Wiederholen Sie den Aufruf nach einer Pause.',
  'calls.remedy.transferEncoding':
    'Senden Sie den Inhalt mit der Kodierung chunked oder mit einer Content-Length.',
  'calls.remedy.unreachable': 'Prüfen Sie die URL des Endpunkts und das Netz.',
  'calls.remedy.unresolved': 'Prüfen Sie den Host in der URL des Endpunkts.',
  'calls.remedy.unsendable': 'Korrigieren Sie die Header oder die Länge der Anfrage.',
  'calls.remedy.untrusted': 'Bitten Sie den Betrieb, der Zertifizierungsstelle zu vertrauen.',
  'calls.remedy.wrongBody': 'Senden Sie das Format, das der Endpunkt erwartet. Nichts wurde weitergeleitet.',
}
