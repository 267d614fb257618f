// German texts for failures.
import type { failures as english } from './failures.en.ts'
import type { TextsOf } from './texts.ts'

export const failures: TextsOf<typeof english> = {
  'failure.sessionEnded': 'Ihre Sitzung ist beendet',
  'failure.sessionEndedHint': 'Melden Sie sich erneut an. Danach kehren Sie auf diese Seite zurück.',
  'failure.notFound': 'Nicht gefunden oder kein Zugriff',
  'failure.notFoundHint':
    'Die Adresse ist falsch, das Objekt wurde gelöscht oder Ihre Rollen umfassen es nicht. Fragen Sie eine Person, die das Projekt verwaltet.',
  'failure.rateLimited': 'Zu viele Anfragen',
  'failure.unavailable': 'Der Manager ist überlastet oder startet neu',
  'failure.unreachable': 'Der Manager ist nicht erreichbar',
  'failure.offline': 'Sie sind offline',
  'failure.unknownOutcome': 'Es ist unbekannt, ob die Änderung gespeichert wurde',
  'failure.unknownOutcomeHint':
    'Die Verbindung brach ab, bevor die Antwort kam. Laden Sie neu und prüfen Sie, bevor Sie die Änderung wiederholen.',
  'failure.conflict': 'Inzwischen hat jemand anderes dies geändert',
  'failure.unexpected': 'Etwas ist schiefgegangen',
  'failure.requestIdLabel': 'Anfrage',
  'failure.rateLimitedHint': 'Der Manager nimmt nach einer kurzen Wartezeit wieder Anfragen an.',
  'failure.unavailableHint': 'Ihre Eingaben sind nicht verloren. Versuchen Sie es gleich noch einmal.',
  'failure.unreachableHint': 'Prüfen Sie Ihre Netzwerkverbindung und versuchen Sie es erneut.',
  'failure.offlineHint': 'Die Seite lädt wieder, sobald die Verbindung zurück ist.',
  'failure.retryIn': (seconds) => `Neuer Versuch in ${seconds} s`,
  'failure.signIn': 'Anmelden',
  'failure.changeOffline':
    'Sie sind offline. Nichts wurde gespeichert. Wiederholen Sie die Änderung, sobald die Verbindung zurück ist.',
  'failure.changeSessionEnded':
    'Ihre Sitzung ist beendet. Nichts wurde gespeichert. Melden Sie sich in einem neuen Tab an und wiederholen Sie die Änderung hier.',
  'failure.offlinePageHint':
    'Diese Seite ist noch nicht geladen. Laden Sie sie neu, sobald die Verbindung zurück ist.',
  'failure.unknownOutcomeReloaded':
    'Die Seite hinter diesem Formular ist jetzt aktuell. Zeigt sie Ihre Änderung, schließen Sie das Formular. Sonst speichern Sie erneut.',
}
