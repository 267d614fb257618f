// Every German text of the console, in the order of en.ts. A missing or unknown key does not compile.
import { overview } from './overview.de.ts'
import { tenants } from './tenants.de.ts'
import { applications } from './applications.de.ts'
import { audit } from './audit.de.ts'
import { calls } from './calls.de.ts'
import { machineUsers } from './machine-users.de.ts'
import { deployments } from './deployments.de.ts'
import { esb } from './esb.de.ts'
import { codeEditor } from './code-editor.de.ts'
import { pilets } from './pilets.de.ts'
import { triggers } from './triggers.de.ts'
import { access } from './access.de.ts'
import { invitations } from './invitations.de.ts'
import { reach } from './reach.de.ts'
import { languagePacks } from './language-packs.de.ts'
import { me } from './me.de.ts'
import { notifications } from './notifications.de.ts'
import { evidence } from './evidence.de.ts'
import { review } from './review.de.ts'
import { system } from './system.de.ts'
import { failures } from './failures.de.ts'
import { createPlural } from './plural.ts'
import type { Texts } from './texts.ts'

const plural = createPlural('de')

const searchKinds: Readonly<Record<string, string>> = {
  project: 'Projekt',
  tenant: 'Mandant',
  application: 'Anwendung',
  environment: 'Umgebung',
  endpoint: 'Endpunkt',
  trigger: 'Trigger',
  triggerRun: 'Trigger-Lauf',
  machineUser: 'Maschinenbenutzer',
  languagePack: 'Sprachpaket',
  piletPackage: 'Pilet',
  user: 'Person',
  loggedCall: 'Aufruf',
}

export const de: Texts = {
  // kit
  'kit.cancel': 'Abbrechen',
  'kit.close': 'Schließen',
  'kit.copied': 'Kopiert',
  'kit.copy': 'Kopieren',
  'kit.copyFailed':
    'Der Browser hat das Kopieren nicht erlaubt. Der Text ist markiert: Kopieren Sie ihn mit der Tastatur.',
  'kit.retry': 'Erneut versuchen',
  'kit.save': 'Speichern',
  'kit.create': 'Anlegen',
  'kit.delete': 'Löschen',
  'kit.edit': 'Bearbeiten',
  'kit.goneRow': 'nicht mehr in der Liste',
  'kit.loading': 'Wird geladen …',
  'kit.required': 'erforderlich',
  'kit.copyId': 'Kennung kopieren',
  'kit.diffAdded': 'hinzugefügt',
  'kit.diffBefore': 'vorher: ',
  'kit.diffAfter': 'nachher: ',
  'kit.diffRemoved': 'entfernt',
  'kit.done': 'Fertig',
  'kit.emptyValue': 'leerer Text',
  'kit.never': 'nie',
  'kit.nextPage': 'Nächste Seite',
  'kit.previousPage': 'Vorige Seite',
  'kit.noMatch': 'Keine Treffer',
  'kit.searchIn': (label) => `${label} suchen`,
  'kit.noRows': 'Keine Zeilen',
  'kit.range': (first, last, total) => `${first}–${last} von ${total}`,
  'kit.rowsPerPage': 'Zeilen pro Seite',
  'kit.secretConfirmFirst': 'Bestätigen Sie zuerst, dass Sie es gespeichert haben',
  'kit.secretOnce':
    'Dies wird nur einmal gezeigt. Speichern Sie es jetzt; später kann es niemand mehr lesen.',
  'kit.secretStored': 'Ich habe es gespeichert',
  'kit.showAll': (characters) => `Alle ${characters} Zeichen zeigen`,
  'kit.typeToConfirm': (text) => `Geben Sie zur Bestätigung ${text} ein`,

  // app
  'app.name': 'Manager',
  'app.menu': 'Menü',
  'app.system': 'System',
  'app.account': (name) => `Konto von ${name}`,
  'app.administrator': 'Administrator',
  'app.all': 'alle',
  'app.any': 'alle',
  'app.allEnvironments': 'Alle Umgebungen',
  'app.allProjects': 'Alle Projekte',
  'app.allShort': 'alle',
  'app.closeMenu': 'Menü schließen',
  'app.createProject': 'Projekt anlegen',
  'app.environmentFilter': (name) => `Umgebung: ${name}`,
  'app.environments': 'Umgebungen',
  'app.findProject': 'Projekt suchen',
  'app.home': 'Startseite',
  'app.inbox': 'Benachrichtigungen',
  'app.inboxAll': 'Alle Benachrichtigungen',
  'app.inboxEmpty': 'Sie haben keine ungelesenen Benachrichtigungen.',
  'app.inboxUnread': (count) => `Benachrichtigungen: ${count} ungelesen`,
  'app.language': 'Sprache',
  'app.markAllRead': 'Alle als gelesen markieren',
  'app.markRead': 'Als gelesen markieren',
  'app.linkTo': (host) => `Link zu ${host}`,
  'app.moreProjects': 'Weitere Projekte passen. Geben Sie mehr vom Namen ein.',
  'app.noProjectMatches': 'Kein Projekt passt.',
  'app.offline': 'Keine Verbindung.',
  'app.offlineData': (age) => `Die Daten dieser Seite wurden ${age} geladen.`,
  'app.offlineWithoutData': 'Diese Seite hat noch keine Daten.',
  'app.outdated': 'Eine neue Version der Konsole ist installiert.',
  'app.outdatedHint': 'Dieser Tab hat eine ältere Version. Laden Sie ihn neu, um fortzufahren.',
  'app.projectCreated': (name) => `Projekt ${name} angelegt`,
  'app.projectName': 'Name',
  'app.projectNeedsName': 'Geben Sie einen Namen und einen Slug ein',
  'app.projectSlugHint': 'Teil jeder Adresse des Projekts. Kleinbuchstaben, Ziffern und Bindestriche.',
  'app.projects': 'Projekte',
  'app.search': 'Suche',
  'app.searchFound': 'Mit der Eingabetaste öffnen Sie den ausgewählten Treffer.',
  'app.searchHint': 'Suchen oder Kennung einfügen',
  'app.searchKey': 'Strg K',
  'app.searchKind': (kind) => searchKinds[kind] ?? kind,
  'app.searchMore': 'Weitere Objekte passen. Geben Sie mehr ein.',
  'app.searchNothing': 'Kein Objekt passt. Eine Kennung muss vollständig sein.',
  'app.searchObjects': 'Objekte',
  'app.searchPages': 'Seiten und Aktionen',
  'app.searchResults': 'Treffer',
  'app.searchTooShort':
    'Geben Sie mindestens drei Zeichen eines Namens ein, oder fügen Sie eine Kennung ein.',
  'app.searching': 'Suche läuft …',
  'app.sessionEnded': 'Ihre Sitzung ist beendet.',
  'app.sessionEndedHint':
    'Melden Sie sich in einem neuen Tab an, um wieder zu laden und zu speichern. Dieser Tab behält Ihre Eingaben.',
  'app.signOut': 'Abmelden',
  'app.skipToContent': 'Zum Inhalt springen',
  'app.switchProject': 'Zu einem anderen Projekt wechseln',
  'app.theme': 'Farbschema',
  'app.theme.dark': 'Dunkel',
  'app.theme.light': 'Hell',
  'app.theme.system': 'System',
  'app.pageNotFound': 'Diese Seite gibt es nicht',
  'app.pageNotFoundHint': 'Prüfen Sie die Adresse oder wählen Sie einen Bereich im Menü.',
  'app.backToEditing': 'Zurück zur Bearbeitung',
  'app.base': 'Als Sie begannen',
  'app.chooseOne': 'Wählen Sie',
  'app.conflict': 'Konflikt',
  'app.conflictSummary': (name, conflicts, others) =>
    `${name} hat während Ihrer Bearbeitung eine Änderung gespeichert. Felder im Konflikt: ${conflicts}; andere geänderte Felder: ${others}. Bis zu Ihrer Entscheidung wird nichts gespeichert.`,
  'app.discardMine': 'Meine Änderungen verwerfen',
  'app.emptyText': '„“ (leer)',
  'app.field': 'Feld',
  'app.fieldsToDecide': (count) =>
    plural(count, { one: 'Entscheiden Sie noch # Feld', other: 'Entscheiden Sie noch # Felder' }),
  'app.hiddenSecret': 'verborgenes Geheimnis',
  'app.notSet': 'nicht gesetzt',
  'app.result': 'Ergebnis',
  'app.saveResult': 'Ergebnis speichern',
  'app.showSecret': 'Anzeigen',
  'app.somebody': 'Eine andere Person',
  'app.theirs': 'Deren Wert, gespeichert',
  'app.unchanged': 'unverändert',
  'app.yours': 'Ihr Wert, nicht gespeichert',
  'app.changedBy': (name) => `${name} hat dies geändert, während Sie es bearbeitet haben.`,
  'app.changedBySomebody': 'Dies wurde geändert, während Sie es bearbeitet haben.',
  'app.discard': 'Verwerfen',
  'app.discardQuestion': 'Änderungen verwerfen?',
  'app.keepEditing': 'Weiter bearbeiten',
  'app.reload': 'Neu laden',
  'app.retryAfter': (seconds) => `Versuchen Sie es in ${seconds} s erneut.`,
  'app.choose': 'Auswählen …',
  'app.moreMatches': (count) => `${count} Treffer. Geben Sie mehr ein, um die Liste einzugrenzen.`,
  'app.person': 'Person',
  'app.personPlaceholder': 'Name oder E-Mail',
  'app.personMinimum': 'Geben Sie mindestens 2 Zeichen ein.',
  'app.personSearching': 'Das Verzeichnis wird durchsucht …',
  'app.personNone': 'Das Verzeichnis enthält keine solche Person.',
  'app.personDisabled': 'im Verzeichnis gesperrt',
  'app.personClear': 'Andere Person wählen',
  'app.clearFilters': 'Filter zurücksetzen',
  'app.consequencesUnknown': (message) =>
    `Der Manager konnte die mitgelöschten Objekte nicht zählen: ${message}`,
  'app.copyLink': 'Link kopieren',
  'app.countMemberships': (count) => plural(count, { one: 'Mitgliedschaft', other: 'Mitgliedschaften' }),
  'app.created': (name) => `${name} angelegt`,
  'app.deleted': (name) => `${name} gelöscht`,
  'app.deleteEverywhere': 'Das Löschen gilt in allen Umgebungen, auch in',
  'app.deleteFinal': 'Dies lässt sich nicht rückgängig machen. Der Audit-Trail bleibt erhalten.',
  'app.exportCsv': 'CSV exportieren',
  'app.exportCancel': 'Export abbrechen',
  'app.exported': (count) => plural(count, { one: '# Zeile exportiert', other: '# Zeilen exportiert' }),
  'app.exportedFirst': (count) =>
    `Die ersten ${count} Zeilen wurden exportiert. Grenzen Sie den Filter ein, um die übrigen zu exportieren.`,
  'app.print': 'Drucken',
  'app.printEmpty': 'Es gibt keine Zeilen.',
  'app.printBack': 'Zurück zur Liste',
  'app.printedAt': 'Gedruckt',
  'app.printedBy': 'Gedruckt von',
  'app.printLimit': (shown, total) =>
    `Die ersten ${shown} von ${total} Zeilen. Exportieren Sie eine CSV-Datei, um alle Zeilen zu erhalten.`,
  'app.printView': 'Druckansicht',
  'app.exportFailed': (message) => `Der Export ist fehlgeschlagen: ${message}`,
  'app.goneRows': (count) =>
    plural(count, {
      one: '# Zeile ist nicht mehr in der Liste',
      other: '# Zeilen sind nicht mehr in der Liste',
    }),
  'app.linkCopied': 'Link kopiert',
  'app.more': (count) => `${count} weitere`,
  'app.newRows': (count, isExact) => plural(count, { other: isExact ? '# neu' : '#+ neu' }),
  'app.nextItem': 'Nächster Eintrag',
  'app.previousItem': 'Voriger Eintrag',
  'app.progress': (done, total) => `${done} von ${total} …`,
  'app.saved': (name) => `${name} gespeichert`,
  'app.slug': 'Slug',
  'app.slugChangeHint': 'Adressen und Clients mit dem alten Slug funktionieren dann nicht mehr.',
  'app.slugHint': 'Kleinbuchstaben, Ziffern und Bindestriche. Der Slug ist Teil von Adressen.',
  'app.summary': 'Überblick',
  'app.undo': 'Rückgängig',
  'app.whoChanged': 'Wer hat das geändert?',
  'app.applyDays': 'Diese Tage zeigen',
  'app.chooseDay': 'Wählen Sie einen Tag, um fortzufahren',
  'app.fromDay': 'Von',
  'app.range.1h': 'letzte Stunde',
  'app.range.24h': 'letzte 24 Stunden',
  'app.range.30d': 'letzte 30 Tage',
  'app.range.7d': 'letzte 7 Tage',
  'app.range.any': 'beliebig',
  'app.range.since': (day) => `seit ${day}`,
  'app.range.until': (day) => `bis ${day}`,
  'app.reversedDays': 'Der erste Tag liegt nach dem letzten',
  'app.time': 'Zeit',
  'app.toDay': 'Bis einschließlich',

  // failures
  ...failures,

  // sections
  'section.overview': 'Übersicht',
  'section.tenants': 'Mandanten',
  'section.applications': 'Anwendungen',
  'section.access': 'Zugriffsmatrix',
  'section.settings': 'Einstellungen',
  'section.languagePacks': 'Sprachpakete',
  'section.members': 'Mitglieder',
  'section.machineUsers': 'Maschinenbenutzer',
  'section.deployments': 'Deployments',
  'section.esb': 'ESB',
  'section.pilets': 'Pilets',
  'section.notifications': 'Benachrichtigungen',
  'section.triggers': 'Trigger',
  'section.calls': 'Aufrufe',
  'section.audit': 'Audit',
  'section.users': 'Benutzer und Rollen',
  'section.tokens': 'Tokens',
  'section.provisioning': 'Provisionierung',
  'section.evidence': 'Nachweise',
  'section.accessReview': 'Zugriffsprüfung',
  'section.me': 'Mein Konto',

  // projects, overview
  ...overview,

  // tenants
  ...tenants,

  // applications
  ...applications,

  // access
  ...access,

  // reach
  ...reach,

  // settings
  'settings.addKey': 'Schlüssel hinzufügen',
  'settings.appliesIn': 'Gilt in',
  'settings.cell': (key, layer) => `${key} in der Ebene ${layer}`,
  'settings.chooseApplication': 'Anwendung wählen',
  'settings.chooseBoth': 'beide wählen',
  'settings.chooseTenant': 'Mandant wählen',
  'settings.clearSearch': 'Suche leeren',
  'settings.comparedTenant': 'wirksamer Wert',
  'settings.compareWith': 'Vergleichen mit',
  'settings.conflictTitle': 'Jemand anderes hat diese Einstellungen geändert',
  'settings.differs': (layer) => `abweichend, aus ${layer}`,
  'settings.effective': 'Wirksam',
  'settings.effectiveHint': (application) => `Wert, den ${application} lädt`,
  'settings.effectiveSoFar': 'aus den gewählten Ebenen',
  'settings.endComparison': 'Vergleich beenden',
  'settings.from': (layer) => `aus ${layer}`,
  'settings.hide': (key) => `Werte von ${key} verbergen`,
  'settings.key': 'Schlüssel',
  'settings.layer.application': 'Anwendung',
  'settings.layer.project': 'Projekt',
  'settings.layer.tenant': 'Mandant',
  'settings.layer.tenant2application': 'Mandant × Anwendung',
  'settings.leaveHint': 'Die Änderungen sind nicht gespeichert. Beim Verlassen gehen sie verloren.',
  'settings.leaveTitle': (count) =>
    plural(count, {
      one: '# ungespeicherte Änderung verwerfen?',
      other: '# ungespeicherte Änderungen verwerfen?',
    }),
  'settings.legendValue': 'Wert',
  'settings.legendWinner': 'gilt',
  'settings.listHint': 'Durch Kommas trennen',
  'settings.mayNotWrite': 'Ihre Rolle darf Einstellungen nicht ändern',
  'settings.mostSpecific': 'am spezifischsten',
  'settings.newKey': (part) => `Neuer Schlüssel: ${part}`,
  'settings.newKeyHint': 'Schlüssel, dann Enter',
  'settings.newSecret': 'Neuer Wert',
  'settings.noLayer': 'nicht gesetzt',
  'settings.noMatch': 'Kein Schlüssel oder Wert entspricht der Suche',
  'settings.noMatchHint': 'Die Suche umfasst Schlüssel und Werte, die nicht geheim sind.',
  'settings.noPair': 'Anwendung nicht aktiviert',
  'settings.overridden': 'überschrieben',
  'settings.pairDisabled': 'am spezifischsten, ausgeschaltet',
  'settings.part.backend': 'Backend',
  'settings.part.frontend': 'Frontend',
  'settings.partHint.backend': 'Werte, die Browser nie laden',
  'settings.partHint.frontend': 'von Browsern geladen, nie Geheimnisse hier ablegen',
  'settings.reach.application': (tenants, application) =>
    `${application}, ${plural(tenants, { one: 'erreicht # Mandanten', other: 'erreicht # Mandanten' })}`,
  'settings.reach.project': (applications, tenants) =>
    `erreicht ${plural(applications, { one: '# Anwendung', other: '# Anwendungen' })} von ${plural(tenants, { one: '# Mandant', other: '# Mandanten' })}`,
  'settings.reach.tenant': (applications, tenant) =>
    `${tenant}, ${plural(applications, { one: 'erreicht # Anwendung', other: 'erreicht # Anwendungen' })}`,
  'settings.reach.tenant2application': (application, tenant) => `erreicht ${application} in ${tenant}`,
  'settings.reveal': (key) => `Werte von ${key} anzeigen`,
  'settings.review': 'Prüfen und speichern',
  'settings.reviewTitle': (count) =>
    plural(count, { one: '# Änderung speichern', other: '# Änderungen speichern' }),
  'settings.same': 'gleicher Wert',
  'settings.sameEverywhere': 'Einstellungen sind in allen Umgebungen gleich, auch in der geschützten.',
  'settings.saved': (count, layers) =>
    `${plural(count, { one: '# Wert gespeichert', other: '# Werte gespeichert' })}: ${layers}`,
  'settings.search': 'Schlüssel oder Wert suchen',
  'settings.setEmpty': 'Leeren Wert setzen',
  'settings.showOverridden': 'Überschriebene Werte',
  'settings.showUnset': 'Nicht gesetzte Schlüssel',
  'settings.undo': (cell) => `Änderung rückgängig machen: ${cell}`,
  'settings.unsaved': (count) =>
    plural(count, { one: '# ungespeicherte Änderung', other: '# ungespeicherte Änderungen' }),
  'settings.unset': 'Aus dieser Ebene entfernen',
  'settings.unsetValue': 'entfernt, wird geerbt',
  'settings.whoChanged': (layer) => `Wer hat die Ebene ${layer} geändert?`,
  'settings.was': 'war',

  // members
  'members.aboveOwnRole': (role) => `Über Ihrer eigenen Rolle ${role}`,
  'members.add': 'Mitglied hinzufügen',
  'members.added': (person, object, role) => `${person} wurde ${object} als ${role} hinzugefügt`,
  'members.addTo': (object) => `Mitglied zu ${object} hinzufügen`,
  'members.applicationRole.normal': 'Nutzt die Anwendung',
  'members.applicationRole.readonly': 'Liest die Anwendung',
  'members.changed': (person, object, role) => `${person} ist jetzt ${role} in ${object}`,
  'members.changedAt': 'Geändert',
  'members.changeRole': 'Rolle ändern',
  'members.changeRoleIn': (object) => `Rolle in ${object} ändern`,
  'members.changeRoleOf': (person, object) => `Rolle von ${person} in ${object} ändern`,
  'members.choose.application': 'Wählen Sie eine Anwendung',
  'members.choose.tenant': 'Wählen Sie einen Mandanten',
  'members.chooseHint': 'Hier stehen dann die Mitglieder.',
  'members.choosePerson': 'Wählen Sie zuerst eine Person',
  'members.chooseRole': 'Wählen Sie zuerst eine Rolle',
  'members.clearFilters': 'Filter zurücksetzen',
  'members.empty': 'Noch keine Mitglieder',
  'members.emptyHint.application': 'Fügen Sie Personen hinzu, die diese Anwendung in allen Mandanten nutzen.',
  'members.emptyHint.project':
    'Fügen Sie Personen hinzu, die dieses Projekt verwalten, entwickeln oder testen.',
  'members.emptyHint.tenant': 'Fügen Sie Personen dieses Kunden hinzu und legen Sie fest, was sie dürfen.',
  'members.group': 'Gruppe',
  'members.groupChangeHint':
    'Eine Gruppe gibt diese Rolle. Die Rolle, die Sie speichern, wird direkt vergeben und hat Vorrang.',
  'members.groupHint': 'Eine Gruppe gibt diese Rolle. Eine direkt vergebene Rolle hat Vorrang.',
  'members.groupRemoveHint':
    'Eine Gruppe gibt diese Rolle. Ein Administrator kann die Regel der Gruppe löschen oder die Person aus der Gruppe entfernen.',
  'members.id': 'Benutzerkennung',
  'members.in.application': 'Anwendungen',
  'members.in.project': 'Projekte',
  'members.in.tenant': 'Mandanten',
  'members.kind': 'Mitglieder von',
  'members.lose.application': (person, role, object) =>
    `${person} verliert die Rolle ${role} in der Anwendung ${object}. Andere Mitgliedschaften bleiben.`,
  'members.lose.project': (person, role, object) =>
    `${person} verliert die Rolle ${role} im Projekt ${object}. Mitgliedschaften in Mandanten und Anwendungen bleiben; entfernen Sie diese einzeln.`,
  'members.lose.tenant': (person, role, object) =>
    `${person} verliert die Rolle ${role} im Mandanten ${object} und damit dessen Anwendungen. Andere Mitgliedschaften bleiben.`,
  'members.mayNotAdd': 'Nur Maintainer können Mitglieder hinzufügen',
  'members.more': (count) => `und ${count} weitere`,
  'members.noMatch': 'Niemand entspricht den Filtern',
  'members.noMatchHint': 'Ein Text mit @ wird in E-Mail-Adressen gesucht, andere Texte in Namen.',
  'members.noneOfKind': 'Keine',
  'members.noPermissions': 'Keine Berechtigungen',
  'members.of.application': 'Anwendung',
  'members.of.project': 'Projekt',
  'members.of.tenant': 'Mandant',
  'members.person': 'Person',
  'members.removed': (person, object) => `${person} wurde aus ${object} entfernt`,
  'members.removeFrom': (object) => `Aus ${object} entfernen`,
  'members.removeTitle': (person, object) => `${person} aus ${object} entfernen?`,
  'members.role': 'Rolle',
  'members.role.developer': 'Ändert auch Einstellungen, Trigger und Sprachpakete',
  'members.role.maintainer': 'Verwaltet auch Mandanten, Anwendungen, Mitglieder und Maschinenbenutzer',
  'members.role.owner': 'Ändert und löscht auch das Projekt',
  'members.role.readonly': 'Liest das Projekt und seine Protokolle',
  'members.role.tester': 'Zeigt auch Vorschauen von Vorlagen an und lädt Pilets hoch',
  'members.roles': 'Rollen',
  'members.sameRole': 'Dies ist die aktuelle Rolle',
  'members.search': 'Name oder E-Mail',
  'members.systemRole': 'Systemrolle',
  'members.thisProject': 'dieses Projekt',
  'members.userName': 'Benutzername',
  'members.you': (name) => `${name} (Sie)`,

  // language-packs
  ...invitations,
  ...languagePacks,

  // machine-users
  ...machineUsers,

  // deployments
  ...deployments,

  // pilets
  ...pilets,

  // notifications
  ...notifications,

  // triggers
  ...triggers,
  // calls
  ...calls,

  // audit
  ...audit,

  // code-editor
  ...codeEditor,

  // esb
  ...esb,

  // system
  ...system,

  // evidence
  ...evidence,

  // review
  ...review,

  // me
  ...me,
}
