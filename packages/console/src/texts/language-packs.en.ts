// English texts for sections/language-packs.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const languagePacks = {
  'languagePacks.noAccess': 'You cannot see the language packs',
  'languagePacks.noAccessHint':
    'The language packs belong to the project, so they require a role in the project. Ask a maintainer of the project.',
  'languagePacks.one': 'Language pack',
  'languagePacks.new': 'New locale',
  'languagePacks.locale': 'Locale',
  'languagePacks.localeHint':
    'Such as de or de-AT. A frontend that has no pack for de-AT loads the pack for de.',
  'languagePacks.needsLocale': 'Enter a locale',
  'languagePacks.size': (keys: number, locales: number) =>
    `${plural(keys, { one: '# key', other: '# keys' })}, ${plural(locales, { one: '# locale', other: '# locales' })}`,
  'languagePacks.search': 'Key or translation',
  'languagePacks.show': 'Rows',
  'languagePacks.showMissing': 'with missing translations',
  'languagePacks.showEdited': 'with unsaved changes',
  'languagePacks.locales': 'Locales',
  'languagePacks.localeCount': (shown: string, all: string) => `${shown} of ${all}`,
  'languagePacks.keyColumn': 'Key',
  'languagePacks.cell': (key: string, locale: string) => `${key} in ${locale}`,
  'languagePacks.missing': 'missing',
  'languagePacks.missingLabel': 'Missing',
  'languagePacks.missingCount': (count: number) => plural(count, { one: '# missing', other: '# missing' }),
  'languagePacks.edited': 'unsaved change',
  'languagePacks.editedLabel': 'Unsaved',
  'languagePacks.conflict': 'Somebody else has changed this translation',
  'languagePacks.newKey': 'New key',
  'languagePacks.addKey': 'Add key',
  'languagePacks.keyHint':
    'Parts are joined by dots, such as orders.list.title. The key is saved with its first translation.',
  'languagePacks.keyExists': 'The key exists already',
  'languagePacks.key.empty': 'Enter a key',
  'languagePacks.key.long': 'A key has at most 500 characters',
  'languagePacks.key.emptyPart': 'Join the parts of the key with single dots',
  'languagePacks.key.manyParts': 'A key has at most 20 parts',
  'languagePacks.key.characters': 'Remove control characters',
  'languagePacks.key.reserved': 'Frontends cannot load this key; choose another one',
  'languagePacks.empty': 'No language packs yet',
  'languagePacks.emptyHint':
    'A language pack has the translations of all frontends of the project for one locale. Create a locale first.',
  'languagePacks.noKeys': 'No translations yet',
  'languagePacks.noKeysHint': 'Add a key, or import a file with translations.',
  'languagePacks.noMatch': 'No key or translation matches',
  'languagePacks.noMatchHint': 'The filter hides all keys of the shown locales.',
  'languagePacks.complete': 'Nothing is missing',
  'languagePacks.completeHint': 'Every shown locale has a translation for every key.',
  'languagePacks.keys': 'Keys',
  'languagePacks.notShown': 'Show the locale to count them',
  'languagePacks.updated': 'Changed',
  'languagePacks.fallback':
    'Frontends load only this pack. A missing key has no translation, even if another locale has one.',
  'languagePacks.deleteTitle': (name: string) => `Delete language pack ${name}?`,
  'languagePacks.deleteHint':
    'All translations of this locale are deleted. Frontends that load it get the pack of its language, or none.',
  'languagePacks.saveFirst': 'Save or discard the changes of this locale first',
  'languagePacks.unsaved': (count: number) =>
    plural(count, { one: '# unsaved change', other: '# unsaved changes' }),
  'languagePacks.saved': (count: number) =>
    plural(count, { one: 'Saved # translation', other: 'Saved # translations' }),
  'languagePacks.saving': 'Changes are being saved',
  'languagePacks.conflictTitle': 'Somebody else changed the same translations',
  'languagePacks.leaveTitle': (count: number) =>
    plural(count, { one: 'Discard # unsaved change?', other: 'Discard # unsaved changes?' }),
  'languagePacks.leaveHint': 'The changed translations are not saved. Leaving discards them.',
  'languagePacks.export': 'Export',
  'languagePacks.exportCsv': 'CSV, for spreadsheets',
  'languagePacks.exportJson': 'JSON',
  'languagePacks.import': 'Import',
  'languagePacks.importTitle': 'Import translations',
  'languagePacks.importHint':
    'A CSV file with a column for the key and one per locale, or a JSON file. The changes appear in the grid; nothing is saved until you save them there.',
  'languagePacks.importLocaleHint': 'The file does not name its locale.',
  'languagePacks.chooseFile': 'Choose file',
  'languagePacks.noFile': 'no file chosen',
  'languagePacks.file.tooLarge': 'The file is larger than 20 MB.',
  'languagePacks.file.unreadable': 'The file cannot be read. Choose it again.',
  'languagePacks.file.noJson': 'The file starts like JSON, but it is not valid JSON.',
  'languagePacks.file.noObject': 'The JSON file must contain an object.',
  'languagePacks.file.noKeyColumn': 'The first column of a CSV file must have the head “key”.',
  'languagePacks.file.noLocaleColumn': 'The CSV file has no column for a locale.',
  'languagePacks.file.manyColumns': 'The CSV file has more than 1,000 columns.',
  'languagePacks.removesOthers': 'Remove translations that the file does not contain',
  'languagePacks.unknownLocales': (names: string) =>
    `The project has no language pack for ${names}. These translations are skipped; create the locale first to import them.`,
  'languagePacks.skipped': (count: number) =>
    plural(count, {
      one: '# value is skipped because it is not a text, or its key is too long.',
      other: '# values are skipped because they are not texts, or their keys are too long.',
    }),
  'languagePacks.invalidKeys': (count: number) =>
    plural(count, { one: '# translation is skipped:', other: '# translations are skipped:' }),
  'languagePacks.preview': 'Preview',
  'languagePacks.summary': (added: string, changed: string, removed: string, unchanged: string) =>
    `Added: ${added}; changed: ${changed}; removed: ${removed}; unchanged: ${unchanged}`,
  'languagePacks.willBeRemoved': 'removed',
  'languagePacks.takeOver': (count: number) => plural(count, { one: 'Add # change', other: 'Add # changes' }),
  'languagePacks.nothingToImport': 'There is nothing to import yet',
}
