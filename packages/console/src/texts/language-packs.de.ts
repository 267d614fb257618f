// German texts for sections/language-packs.
import type { languagePacks as english } from './language-packs.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const languagePacks: TextsOf<typeof english> = {
  'languagePacks.noAccess': 'Die Sprachpakete sind für Sie nicht sichtbar',
  'languagePacks.noAccessHint':
    'Die Sprachpakete gehören zum Projekt und erfordern daher eine Rolle im Projekt. Fragen Sie eine Person, die das Projekt verwaltet.',
  'languagePacks.one': 'Sprachpaket',
  'languagePacks.new': 'Neue Sprache',
  'languagePacks.locale': 'Sprache',
  'languagePacks.localeHint':
    'Zum Beispiel de oder de-AT. Eine Oberfläche ohne Paket für de-AT lädt das Paket für de.',
  'languagePacks.needsLocale': 'Geben Sie eine Sprache ein',
  'languagePacks.size': (keys, locales) =>
    `${plural(keys, { one: '# Schlüssel', other: '# Schlüssel' })}, ${plural(locales, { one: '# Sprache', other: '# Sprachen' })}`,
  'languagePacks.search': 'Schlüssel oder Übersetzung',
  'languagePacks.show': 'Zeilen',
  'languagePacks.showMissing': 'mit fehlenden Übersetzungen',
  'languagePacks.showEdited': 'mit ungespeicherten Änderungen',
  'languagePacks.locales': 'Sprachen',
  'languagePacks.localeCount': (shown, all) => `${shown} von ${all}`,
  'languagePacks.keyColumn': 'Schlüssel',
  'languagePacks.cell': (key, locale) => `${key} in ${locale}`,
  'languagePacks.missing': 'fehlt',
  'languagePacks.missingLabel': 'Fehlend',
  'languagePacks.missingCount': (count) => plural(count, { one: '# fehlt', other: '# fehlen' }),
  'languagePacks.edited': 'ungespeicherte Änderung',
  'languagePacks.editedLabel': 'Ungespeichert',
  'languagePacks.conflict': 'Jemand anderes hat diese Übersetzung geändert',
  'languagePacks.newKey': 'Neuer Schlüssel',
  'languagePacks.addKey': 'Schlüssel hinzufügen',
  'languagePacks.keyHint':
    'Punkte verbinden die Teile, zum Beispiel orders.list.title. Der Schlüssel wird mit seiner ersten Übersetzung gespeichert.',
  'languagePacks.keyExists': 'Den Schlüssel gibt es bereits',
  'languagePacks.key.empty': 'Geben Sie einen Schlüssel ein',
  'languagePacks.key.long': 'Ein Schlüssel hat höchstens 500 Zeichen',
  'languagePacks.key.emptyPart': 'Verbinden Sie die Teile des Schlüssels mit einzelnen Punkten',
  'languagePacks.key.manyParts': 'Ein Schlüssel hat höchstens 20 Teile',
  'languagePacks.key.characters': 'Entfernen Sie die Steuerzeichen',
  'languagePacks.key.reserved': 'Oberflächen können diesen Schlüssel nicht laden; wählen Sie einen anderen',
  'languagePacks.empty': 'Noch keine Sprachpakete',
  'languagePacks.emptyHint':
    'Ein Sprachpaket enthält die Übersetzungen aller Oberflächen des Projekts für eine Sprache. Legen Sie zuerst eine Sprache an.',
  'languagePacks.noKeys': 'Noch keine Übersetzungen',
  'languagePacks.noKeysHint': 'Fügen Sie einen Schlüssel hinzu oder importieren Sie eine Datei.',
  'languagePacks.noMatch': 'Kein Schlüssel und keine Übersetzung passt',
  'languagePacks.noMatchHint': 'Der Filter blendet alle Schlüssel der gezeigten Sprachen aus.',
  'languagePacks.complete': 'Nichts fehlt',
  'languagePacks.completeHint': 'Jede gezeigte Sprache hat für jeden Schlüssel eine Übersetzung.',
  'languagePacks.keys': 'Schlüssel',
  'languagePacks.notShown': 'Blenden Sie die Sprache ein, um sie zu zählen',
  'languagePacks.updated': 'Geändert',
  'languagePacks.fallback':
    'Oberflächen laden nur dieses Paket. Ein fehlender Schlüssel hat keine Übersetzung, auch wenn eine andere Sprache eine hat.',
  'languagePacks.deleteTitle': (name) => `Sprachpaket ${name} löschen?`,
  'languagePacks.deleteHint':
    'Alle Übersetzungen dieser Sprache werden gelöscht. Oberflächen laden stattdessen das Paket der Grundsprache oder keines.',
  'languagePacks.saveFirst': 'Speichern oder verwerfen Sie zuerst die Änderungen dieser Sprache',
  'languagePacks.unsaved': (count) =>
    plural(count, { one: '# ungespeicherte Änderung', other: '# ungespeicherte Änderungen' }),
  'languagePacks.saved': (count) =>
    plural(count, { one: '# Übersetzung gespeichert', other: '# Übersetzungen gespeichert' }),
  'languagePacks.saving': 'Änderungen werden gespeichert',
  'languagePacks.conflictTitle': 'Jemand anderes hat dieselben Übersetzungen geändert',
  'languagePacks.leaveTitle': (count) =>
    plural(count, {
      one: '# ungespeicherte Änderung verwerfen?',
      other: '# ungespeicherte Änderungen verwerfen?',
    }),
  'languagePacks.leaveHint':
    'Die geänderten Übersetzungen sind nicht gespeichert. Sie gehen verloren, wenn Sie die Seite verlassen.',
  'languagePacks.export': 'Exportieren',
  'languagePacks.exportCsv': 'CSV, für Tabellenprogramme',
  'languagePacks.exportJson': 'JSON',
  'languagePacks.import': 'Importieren',
  'languagePacks.importTitle': 'Übersetzungen importieren',
  'languagePacks.importHint':
    'Eine CSV-Datei mit einer Spalte für den Schlüssel und einer je Sprache, oder eine JSON-Datei. Die Änderungen erscheinen in der Tabelle; gespeichert wird erst dort.',
  'languagePacks.importLocaleHint': 'Die Datei nennt ihre Sprache nicht.',
  'languagePacks.chooseFile': 'Datei auswählen',
  'languagePacks.noFile': 'keine Datei ausgewählt',
  'languagePacks.file.tooLarge': 'Die Datei ist größer als 20 MB.',
  'languagePacks.file.unreadable': 'Die Datei kann nicht gelesen werden. Wählen Sie sie erneut.',
  'languagePacks.file.noJson': 'Die Datei beginnt wie JSON, ist aber kein gültiges JSON.',
  'languagePacks.file.noObject': 'Die JSON-Datei muss ein Objekt enthalten.',
  'languagePacks.file.noKeyColumn': 'Die erste Spalte einer CSV-Datei muss „key“ heißen.',
  'languagePacks.file.noLocaleColumn': 'Die CSV-Datei hat keine Spalte für eine Sprache.',
  'languagePacks.file.manyColumns': 'Die CSV-Datei hat mehr als 1.000 Spalten.',
  'languagePacks.removesOthers': 'Übersetzungen entfernen, die in der Datei fehlen',
  'languagePacks.unknownLocales': (names) =>
    `Das Projekt hat kein Sprachpaket für ${names}. Diese Übersetzungen werden übersprungen; legen Sie die Sprache zuerst an, um sie zu importieren.`,
  'languagePacks.skipped': (count) =>
    plural(count, {
      one: '# Wert wird übersprungen, weil er kein Text oder sein Schlüssel zu lang ist.',
      other: '# Werte werden übersprungen, weil sie keine Texte oder ihre Schlüssel zu lang sind.',
    }),
  'languagePacks.invalidKeys': (count) =>
    plural(count, { one: '# Übersetzung wird übersprungen:', other: '# Übersetzungen werden übersprungen:' }),
  'languagePacks.preview': 'Vorschau',
  'languagePacks.summary': (added, changed, removed, unchanged) =>
    `Neu: ${added}; geändert: ${changed}; entfernt: ${removed}; unverändert: ${unchanged}`,
  'languagePacks.willBeRemoved': 'entfernt',
  'languagePacks.takeOver': (count) =>
    plural(count, { one: '# Änderung übernehmen', other: '# Änderungen übernehmen' }),
  'languagePacks.nothingToImport': 'Noch gibt es nichts zu importieren',
}
