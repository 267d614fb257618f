// German texts for sections/provisioning.
import { createPlural } from './plural.ts'
import type { provisioning as english } from './provisioning.en.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')
const people = (count: number): string => plural(count, { one: '# Person', other: '# Personen' })

export const provisioning: TextsOf<typeof english> = {
  'provisioning.view.groups': 'Gruppen',
  'provisioning.view.providers': 'Identitätsanbieter',
  'provisioning.view.rules': 'Regeln',

  // identity providers
  'provisioning.address': 'SCIM-Adresse',
  'provisioning.copyAddress': 'SCIM-Adresse kopieren',
  'provisioning.creator': 'Erstellt von',
  'provisioning.lifetime': (days) => plural(days, { one: '# Tag', other: '# Tage' }),
  'provisioning.newToken': 'Neues SCIM-Token',
  'provisioning.noMatchHint': 'Die Suche umfasst Namen.',
  'provisioning.noTokens': 'Kein Identitätsanbieter ist verbunden',
  'provisioning.noTokensHint':
    'Erstellen Sie ein Token. Tragen Sie es mit der SCIM-Adresse in Ihren Identitätsanbieter ein.',
  'provisioning.revokedAt': 'Widerrufen',
  'provisioning.revokeHint':
    'Der Manager lehnt Anfragen des Identitätsanbieters sofort ab. Sie können dies nicht rückgängig machen. Personen, Gruppen und Rollen bleiben.',
  'provisioning.searchTokens': 'Name des Tokens',
  'provisioning.tokenCreated': (name) => `SCIM-Token ${name}`,
  'provisioning.tokenNameHint': 'Nennen Sie den Identitätsanbieter, zum Beispiel „entra“.',
  'provisioning.tokenNotFoundHint': 'Prüfen Sie die Adresse.',
  'provisioning.tokenUseHint': (address) =>
    `Tragen Sie das Token mit der Adresse ${address} in den Identitätsanbieter ein.`,

  // groups
  'provisioning.externalId': 'Externe Kennung',
  'provisioning.group': 'Gruppe',
  'provisioning.groupId': 'Gruppenkennung',
  'provisioning.noGroupMatches': 'Keine Gruppe passt',
  'provisioning.noGroups': 'Noch keine Gruppen',
  'provisioning.noGroupsHint':
    'Erstellen Sie ein Token und verbinden Sie Ihren Identitätsanbieter. Seine Gruppen erscheinen hier.',
  'provisioning.noPeople': 'Die Gruppe hat keine Personen.',
  'provisioning.people': 'Personen',
  'provisioning.peopleCount': people,
  'provisioning.searchGroups': 'Name der Gruppe',

  // rules
  'provisioning.addRule': 'Regel hinzufügen',
  'provisioning.addRuleTo': (group) => `${group} eine Rolle geben`,
  'provisioning.choose.application': 'Wählen Sie zuerst eine Anwendung',
  'provisioning.choose.project': 'Wählen Sie zuerst ein Projekt',
  'provisioning.choose.tenant': 'Wählen Sie zuerst einen Mandanten',
  'provisioning.deleteRuleIn': (object) => `Regel für ${object} löschen`,
  'provisioning.deleteRuleTitle': (group) => `Regel von ${group} löschen?`,
  'provisioning.noRuleMatches': 'Keine Regel passt',
  'provisioning.noRules': 'Noch keine Regeln',
  'provisioning.noRulesHint':
    'Öffnen Sie eine Gruppe und fügen Sie eine Regel hinzu. Die Regel gibt allen Personen der Gruppe eine Rolle.',
  'provisioning.noRulesOfGroup':
    'Die Gruppe hat keine Regeln. Fügen Sie eine Regel hinzu, um ihren Personen eine Rolle zu geben.',
  'provisioning.partOf': (kind, project) => `${kind} · ${project}`,
  'provisioning.roleIn': 'Rolle in',
  'provisioning.roleInObject': (role, object) => `${role} in ${object}`,
  'provisioning.rule': 'Regel',
  'provisioning.ruleAdded': (group, role) => `${group} gibt jetzt die Rolle ${role}`,
  'provisioning.ruleDeleted': (group, role, object) =>
    `${group} gibt die Rolle ${role} in ${object} nicht mehr`,
  'provisioning.ruleEffect': (count) =>
    `Die Regel gilt für alle Personen der Gruppe, jetzt ${people(count)}, und für Personen, die später dazukommen. Eine direkt vergebene Rolle hat Vorrang.`,
  'provisioning.ruleId': 'Regelkennung',
  'provisioning.ruleLoss': (count, role, object) =>
    count === 0
      ? `Die Gruppe hat keine Personen, also hat die Regel für die Rolle ${role} in ${object} keine Wirkung.`
      : `Höchstens ${plural(count, { one: '# Person verliert', other: '# Personen verlieren' })} die Rolle ${role} in ${object}.`,
  'provisioning.ruleLossHint':
    'Direkt vergebene Rollen bleiben. Wenn eine andere Gruppe eine Rolle gibt, gilt diese stattdessen.',
  'provisioning.ruleNotFound': 'Diese Regel gibt es nicht',
  'provisioning.ruleNotFoundHint': 'Sie wurde gelöscht, oder die Adresse ist falsch.',
  'provisioning.scope': 'Objekt',
}
