// German texts for sections/deployments.
import type { deployments as english } from './deployments.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const deployments: TextsOf<typeof english> = {
  // list
  'deployments.one': 'Deployment',
  'deployments.search': 'Anwendung',
  'deployments.application': 'Anwendung',
  'deployments.environment': 'Umgebung',
  'deployments.backends': 'Backends',
  'deployments.version': 'Version',
  'deployments.versionUnknown': 'unbekannt',
  'deployments.moreVersions': (first, count) => `${first} und ${count} weitere`,
  'deployments.heartbeat': 'Herzschlag',
  'deployments.workload': 'Workload',
  'deployments.replicas': 'Replikate',
  'deployments.noSpecification': 'keine Spezifikation',
  'deployments.noneRegistered': 'keine',
  'deployments.live': (count) => `${count} aktiv`,
  'deployments.partlyLive': (live, total) => `${live} von ${total} aktiv`,
  'deployments.noneLive': 'keines aktiv',
  'deployments.asleep': 'schläft',
  'deployments.waking': 'wird geweckt',
  'deployments.empty': 'Noch keine Anwendungen',
  'deployments.emptyHint': 'Jede Anwendung des Projekts hat in jeder Umgebung ein Deployment.',
  'deployments.noMatch': 'Keine passenden Anwendungen',
  'deployments.noMatchHint': 'Der Filter blendet alle Deployments aus.',

  // specification
  'deployments.specification': 'Spezifikation',
  'deployments.noSpecificationHint':
    'Dieses Deployment hat keine Spezifikation. Seine Backends können sich auch ohne sie registrieren.',
  'deployments.specificationHint':
    'Die Spezifikation beschreibt den Workload. Das Speichern ändert den laufenden Workload nicht.',
  'deployments.newTitle': (application) => `Neue Spezifikation von ${application}`,
  'deployments.editTitle': (application) => `Spezifikation von ${application} bearbeiten`,
  'deployments.new': 'Neue Spezifikation',
  'deployments.inEnvironment': 'Umgebung:',
  'deployments.image': 'Image',
  'deployments.minReplicas': 'Replikate mindestens',
  'deployments.maxReplicas': 'Replikate höchstens',
  'deployments.port': 'Port',
  'deployments.healthPath': 'Pfad der Zustandsprüfung',
  'deployments.readinessTimeout': 'Startfrist (s)',
  'deployments.seconds': (count) => `${count} s`,
  'deployments.workloadHint': 'Namensraum und Name, zum Beispiel shop/web.',
  'deployments.workloadFixed':
    'Der Workload kann nicht geändert werden, solange die Skalierung auf null eingeschaltet ist.',
  'deployments.wholeNumber': 'Geben Sie eine ganze Zahl ein.',
  'deployments.empty.version': 'leer',
  'deployments.created': 'Angelegt',
  'deployments.changed': 'Geändert',
  'deployments.conflictTitle': 'Jemand anders hat diese Spezifikation geändert',
  'deployments.deleteTitle': (workload) => `Spezifikation von ${workload} löschen?`,
  'deployments.deleteHint':
    'Der Workload läuft weiter, und seine Backends bleiben registriert. Besucher können ihn nicht mehr wecken.',
  'deployments.readOnly': 'Mit Ihrer Rolle können Sie dieses Deployment nur ansehen.',

  // scale to zero
  'deployments.scaleToZero': 'Skalierung auf null',
  'deployments.on': 'ein',
  'deployments.off': 'aus',
  'deployments.scaleToZeroOn': 'Der Workload darf mit null Replikaten schlafen. Besucher wecken ihn.',
  'deployments.scaleToZeroOff': 'Der Workload schläft nie und kann daher nicht geweckt werden.',
  'deployments.onlyOperator':
    'Die Konsole kann dies nicht ändern. Nur der Betreiber des Managers kann es, mit diesem Befehl:',

  // backends
  'deployments.state': 'Zustand',
  'deployments.lastHeartbeat': 'Letzter Herzschlag',
  'deployments.showAll': 'Alle anzeigen',
  'deployments.noBackends': 'Kein Backend ist registriert. Backends registrieren sich, wenn sie starten.',
  'deployments.sleepingHint':
    'Kein Backend ist registriert. Der Workload ist möglicherweise auf null skaliert.',
  'deployments.isLive': 'aktiv',
  'deployments.isSilent': 'still',
  'deployments.isGone': 'fort',
  'deployments.liveHint': 'Das Backend empfängt Rückrufe.',
  'deployments.silentHint':
    'Das Backend empfängt keine Rückrufe: Es sendet keinen Herzschlag, oder sein Maschinenbenutzer ist deaktiviert.',
  'deployments.goneHint': 'Das Backend ist nicht mehr registriert.',
  'deployments.registered': 'registriert',

  // wake
  'deployments.wake': 'Wecken',
  'deployments.wakeAgain': 'Erneut wecken',
  'deployments.wakeTitle': 'Aufwecken',
  'deployments.wakeNeedsSpecification': 'Das Deployment hat keine Spezifikation',
  'deployments.wakeNeedsFlag': 'Die Skalierung auf null ist aus, daher schläft der Workload nicht',
  'deployments.wakeIsLive': 'Das Deployment ist wach: Ein Backend ist aktiv',
  'deployments.dismiss': 'Ausblenden',
  'deployments.askStep': 'Den Orchestrator bitten, den Workload zu starten',
  'deployments.asked': (replicas) => `Der Workload startet mit mindestens ${replicas}`,
  'deployments.alreadyAwake': (replicas) => `Der Workload hatte bereits mindestens ${replicas}`,
  'deployments.replicaCount': (count) => plural(count, { one: '# Replikat', other: '# Replikaten' }),
  'deployments.askUnknown':
    'Die Verbindung brach ab, bevor die Antwort ankam. Das Ergebnis ist daher unbekannt. Erneutes Wecken ist unbedenklich.',
  'deployments.askFailed': (reason) => `Das Deployment wurde nicht geweckt: ${reason}`,
  'deployments.startStep': 'Warten, bis sich ein Backend registriert',
  'deployments.started': (count) =>
    plural(count, { one: '# Backend ist aktiv', other: '# Backends sind aktiv' }),
  'deployments.readyStep': 'Bereit für Rückrufe',
  'deployments.waitingFor': (seconds) => `seit ${seconds} s`,
  'deployments.leaveHint':
    'Sie können diese Seite verlassen. Das Wecken läuft weiter, und dieses Fenster zeigt den Fortschritt.',
  'deployments.tooSlow': (seconds, workload) =>
    `Innerhalb von ${seconds} s, der Frist der Spezifikation, hat sich kein Backend registriert. Prüfen Sie, ob die Pods von ${workload} starten und den Manager erreichen. Die Konsole wartet weiter.`,
}
