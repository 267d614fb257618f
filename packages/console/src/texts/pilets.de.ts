// German texts for sections/pilets.
import type { pilets as english } from './pilets.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const pilets: TextsOf<typeof english> = {
  // list
  'pilets.one': 'Pilet',
  'pilets.view.versions': 'Versionen',
  'pilets.view.feed': 'Feed-Vorschau',
  'pilets.search': 'Name, Name@Version oder Kennung',
  'pilets.name': 'Name',
  'pilets.version': 'Version',
  'pilets.status': 'Status',
  'pilets.enabled': 'aktiviert',
  'pilets.disabled': 'deaktiviert',
  'pilets.signature': 'Signatur',
  'pilets.signed': 'signiert',
  'pilets.unsigned': 'nicht signiert',
  'pilets.signatureUnknown': 'in keinem Feed',
  'pilets.signatureUnknownHint':
    'Die Signatur ist bekannt, sobald der Feed einer Anwendung diese Version enthält.',
  'pilets.unsignedHint': 'Seiten lehnen Versionen ab, die nicht signiert sind.',
  'pilets.loadedBy': 'Geladen von',
  'pilets.applications': (count) => plural(count, { one: '# Anwendung', other: '# Anwendungen' }),
  'pilets.usedBy': 'Aktiv, angeheftet',
  'pilets.enabledBy': (count) => plural(count, { one: '# Ebene', other: '# Ebenen' }),
  'pilets.pinnedBy': (count) => plural(count, { one: '# Anheftung', other: '# Anheftungen' }),
  'pilets.size': 'Größe',
  'pilets.uploaded': 'Hochgeladen',
  'pilets.empty': 'Noch keine Pilets',
  'pilets.emptyHint':
    'Ein Pilet ist ein Teil eines Frontends. Ziehen Sie ein Paket, das npm pack erzeugt hat, auf diese Seite, oder wählen Sie es mit dem Knopf.',
  'pilets.noMatch': 'Keine Version passt',
  'pilets.noMatchHint':
    'Die Filter blenden alle Versionen aus. Eine Version oder Kennung muss vollständig sein.',

  // panel
  'pilets.usage': 'Verwendung',
  'pilets.versions': 'Versionen',
  'pilets.moreVersions': 'Weitere Versionen anzeigen',
  'pilets.description': 'Beschreibung',
  'pilets.noDescription': 'Diese Version hat keine Beschreibung.',
  'pilets.descriptionHint': 'Höchstens 1.000 Zeichen.',
  'pilets.describeTitle': (name, version) => `${name} ${version} beschreiben`,
  'pilets.facts': 'Version',
  'pilets.bytes': (count) => `${count} Bytes`,
  'pilets.key': 'Schlüssel',
  'pilets.noFeed': 'noch keine Anwendung, siehe „Verwendung“',
  'pilets.changed': 'Geändert',
  'pilets.disabledHint': 'Diese Version ist deaktiviert: Kein Feed enthält sie.',
  'pilets.readOnly': 'Mit Ihrer Rolle können Sie diese Version nur ansehen.',
  'pilets.askToEnable': 'Entwickler können diese Version aktivieren.',
  'pilets.enable': 'Aktivieren',
  'pilets.disable': 'Deaktivieren',
  'pilets.wasEnabled': (name, version) => `${name} ${version} aktiviert`,
  'pilets.wasDisabled': (name, version) => `${name} ${version} deaktiviert`,
  'pilets.disableTitle': (name, version) => `${name} ${version} deaktivieren?`,
  'pilets.disableConsequence':
    'Feeds enthalten diese Version nicht mehr. Seiten, die sie geladen haben, bekommen beim nächsten Laden die höchste andere aktivierte Version, oder verlieren das Pilet, wenn es keine gibt.',
  'pilets.disableLoaded': (applications) => `Anwendungen, die sie jetzt laden: ${applications}.`,
  'pilets.disablePinned': (count) =>
    plural(count, {
      one: '# Ebene der Einstellungen heftet diese Version an. Ihre Mandanten verlieren das Pilet, weil eine Anheftung keine Ersatzversion hat.',
      other:
        '# Ebenen der Einstellungen heften diese Version an. Ihre Mandanten verlieren das Pilet, weil eine Anheftung keine Ersatzversion hat.',
    }),

  // usage
  'pilets.usagePartial': (count) =>
    `Mehr als ${count} Ebenen verwenden dieses Pilet. Die Liste zeigt die ersten.`,
  'pilets.enabledIn': 'Aktiviert in',
  'pilets.notEnabledAnywhere':
    'Keine Ebene aktiviert dieses Pilet, also enthält es kein Feed. Fügen Sie seinen Namen in den Einstellungen zu EnabledModules hinzu.',
  'pilets.enabledInHint': 'Eine speziellere Ebene mit eigenen EnabledModules ersetzt diese Liste.',
  'pilets.pinnedIn': 'Angeheftet in',
  'pilets.notPinnedAnywhere':
    'Keine Ebene heftet eine Version an. Feeds enthalten die höchste aktivierte Version.',
  'pilets.unpin': (object) => `Anheftung von ${object} entfernen`,
  'pilets.wasUnpinned': (name, object) => `Anheftung von ${name} in ${object} entfernt`,

  // pin
  'pilets.pin': 'Anheften',
  'pilets.pinTitle': (name, version) => `${name} ${version} anheften`,
  'pilets.pinHint':
    'Der Mandant bekommt genau diese Version, bis die Anheftung entfernt wird, auch wenn eine höhere Version aktiviert ist.',
  'pilets.tenant': 'Mandant',
  'pilets.onlyApplication': 'Nur in der Anwendung',
  'pilets.allApplications': 'Alle Anwendungen',
  'pilets.chooseTenant': 'Wählen Sie zuerst einen Mandanten',
  'pilets.neverEnabled': 'Die Anwendung war für diesen Mandanten nie aktiviert',
  'pilets.neverEnabledHint':
    'Die Anwendung war für diesen Mandanten nie aktiviert. Aktivieren Sie sie zuerst, oder heften Sie die Version in allen Anwendungen an.',
  'pilets.alreadyPinned': (version) => `Angeheftet ist bereits ${version}.`,
  'pilets.replacesPin': (version) => `Dies ersetzt die angeheftete Version ${version}.`,
  'pilets.pinDisabled':
    'Diese Version ist deaktiviert. Bis sie aktiviert wird, entfernt die Anheftung das Pilet aus den Feeds des Mandanten.',
  'pilets.pinLayers':
    'Anheftungen verschiedener Ebenen werden nicht kombiniert: Die der speziellsten Ebene ersetzen alle anderen, auch die anderer Pilets.',
  'pilets.wasPinned': (name, version, tenant) => `${name} ${version} für ${tenant} angeheftet`,

  // feed
  'pilets.chooseApplication': 'Wählen Sie eine Anwendung',
  'pilets.feedHint':
    'Die Vorschau zeigt, welche Versionen ihre Seiten laden, und warum. Wählen Sie einen Mandanten, damit seine Einstellungen und Anheftungen gelten.',
  'pilets.sharedHosts': 'Ohne Mandant',
  'pilets.emptyFeed': 'Der Feed ist leer',
  'pilets.emptyFeedHint':
    'Ein Feed enthält die aktivierten Pilets, die EnabledModules nennt. Prüfen Sie die Einstellungen und den Status der Versionen.',
  'pilets.reason': 'Grund',
  'pilets.reason.pin': 'angeheftet',
  'pilets.reason.highest': 'höchste aktivierte',
  'pilets.spec': 'Format',

  // upload
  'pilets.upload': 'Hochladen',
  'pilets.uploadCount': (count) => plural(count, { one: '# Datei hochladen', other: '# Dateien hochladen' }),
  'pilets.uploadingShort': (percent) => `${percent} hochgeladen`,
  'pilets.uploadTitle': 'Pilets hochladen',
  'pilets.drop': 'Legen Sie die Dateien ab, um sie hinzuzufügen',
  'pilets.dragHint': 'Ziehen Sie Dateien hierher oder an eine andere Stelle der Seite',
  'pilets.chooseFiles': 'Dateien auswählen',
  'pilets.chooseFirst': 'Wählen Sie zuerst eine Datei',
  'pilets.formatHint':
    'Pakete, die npm pack erzeugt (.tgz), oder einzelne Skripte (.js, .mjs). Eine Version ändert sich nach dem Hochladen nie.',
  'pilets.files': 'Dateien zum Hochladen',
  'pilets.listFull': (count) =>
    `Die Liste hat höchstens ${count} Dateien. Entfernen Sie fertige Dateien, um andere hinzuzufügen.`,
  'pilets.enableNow': 'Versionen sofort aktivieren',
  'pilets.storedDisabled':
    'Mit Ihrer Rolle werden Versionen deaktiviert gespeichert. Entwickler können sie aktivieren.',
  'pilets.closeHint':
    'Sie können diesen Dialog schließen. Das Hochladen läuft weiter, solange diese Seite geöffnet ist.',
  'pilets.leaveTitle': 'Hochladen abbrechen?',
  'pilets.leaveHint': 'Dateien werden noch hochgeladen. Verlassen bricht das Hochladen ab.',
  'pilets.cancelUpload': (file) => `Hochladen von ${file} abbrechen`,
  'pilets.removeFile': (file) => `${file} aus der Liste entfernen`,
  'pilets.progressOf': (file) => `Fortschritt von ${file}`,
  'pilets.progress': (percent, sent, total) => `${percent} · ${sent} von ${total}`,
  'pilets.openVersion': 'Öffnen',
  'pilets.state.reading': 'wird gelesen',
  'pilets.state.ready': 'bereit',
  'pilets.state.waiting': 'wartet',
  'pilets.state.sending': 'wird hochgeladen',
  'pilets.state.storing': 'wird gespeichert',
  'pilets.state.cancelled': 'abgebrochen',
  'pilets.state.enabled': 'hochgeladen, aktiviert',
  'pilets.state.stored': 'hochgeladen, deaktiviert',
  'pilets.state.rejected': 'falsche Datei',
  'pilets.state.failed': 'nicht hochgeladen',
  'pilets.uploadedEnabled':
    'Feeds von Anwendungen, die das Pilet aktivieren, enthalten jetzt diese Version, wenn sie keine höhere haben.',
  'pilets.uploadedDisabled': 'Kein Feed enthält diese Version, bis sie aktiviert wird.',
  'pilets.cancelledHint': 'Nichts wurde gespeichert.',
  'pilets.rejected.empty': 'Die Datei ist leer. Erzeugen Sie das Paket noch einmal mit npm pack.',
  'pilets.rejected.unknownType':
    'Die Datei ist weder ein npm-Paket noch ein Skript. Erzeugen Sie ein Paket mit npm pack, und wählen Sie die .tgz-Datei.',
  'pilets.rejected.damaged':
    'Das Archiv ist beschädigt oder unvollständig. Erzeugen Sie es noch einmal mit npm pack.',
  'pilets.rejected.noManifest':
    'Das Archiv hat keine Datei package/package.json, ist also kein npm-Paket. Erzeugen Sie es mit npm pack.',
  'pilets.rejected.noNameOrVersion':
    'Die package.json im Archiv hat keinen Namen oder keine Version. Ergänzen Sie beides, und führen Sie npm pack noch einmal aus.',
  'pilets.rejected.unreadable':
    'Der Browser kann die Datei nicht lesen. Ein Ordner lässt sich nicht hochladen: Erzeugen Sie ein Paket mit npm pack.',
  'pilets.rejected.repeated':
    'Eine andere Datei dieser Liste hat denselben Namen und dieselbe Version. Entfernen Sie eine davon.',
  'pilets.rejected.tooLarge': (limit) =>
    `Die Datei ist größer als ${limit}, was keine Installation annimmt. Lassen Sie Dateien weg, die Seiten nicht laden, zum Beispiel Source Maps.`,
  'pilets.tooLarge': (message) =>
    `Der Manager hat die Größe abgelehnt: ${message}. Lassen Sie Dateien weg, die Seiten nicht laden, zum Beispiel Source Maps, oder bitten Sie den Betrieb, die Grenze zu erhöhen.`,
  'pilets.sameContent': (name, version) =>
    `${name} ${version} wurde schon mit demselben Inhalt hochgeladen. Es ist nichts zu tun.`,
  'pilets.otherContent': (name, version) =>
    `${name} ${version} gibt es mit anderem Inhalt. Versionen ändern sich nie: Erhöhen Sie die Version in package.json, führen Sie npm pack aus, und laden Sie die neue Datei hoch.`,
  'pilets.otherContentSince': (name, version, uploaded) =>
    `${name} ${version} gibt es mit anderem Inhalt, hochgeladen ${uploaded}. Versionen ändern sich nie: Erhöhen Sie die Version in package.json, führen Sie npm pack aus, und laden Sie die neue Datei hoch.`,
  'pilets.interrupted':
    'Die Verbindung ist abgebrochen, bevor das Hochladen fertig war. Nichts wurde gespeichert.',
}
