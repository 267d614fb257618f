// German texts for the account page and for personal access tokens.
import type { me as english } from './me.en.ts'
import { createPlural } from './plural.ts'
import type { TextsOf } from './texts.ts'

const plural = createPlural('de')

export const me: TextsOf<typeof english> = {
  // me
  'me.administratorHint': 'Als Administrator haben Sie jede Berechtigung in jedem Projekt.',
  'me.chooseDay': 'Wählen Sie einen letzten Tag, um fortzufahren',
  'me.expiresOn': (date) => `Das Token gilt bis zum ${date}.`,
  'me.inbox.all': 'Alle',
  'me.inbox.unread': 'Ungelesen',
  'me.inboxAllRead': 'Alles ist gelesen',
  'me.inboxAllReadHint': 'Neue Benachrichtigungen erscheinen hier und an der Glocke.',
  'me.inboxEmpty': 'Noch keine Benachrichtigungen',
  'me.inboxEmptyHint':
    'Anwendungen senden Benachrichtigungen zu Ihren Mandanten. Sie erscheinen hier und an der Glocke.',
  'me.inboxMore': 'Ältere Benachrichtigungen anzeigen',
  'me.inboxPartial':
    'Sie haben Zugriff auf viele Mandanten und Anwendungen. Die Liste umfasst 200 dieser Kombinationen.',
  'me.inboxShow': 'Angezeigte Benachrichtigungen',
  'me.inboxShowAll': 'Alle anzeigen',
  'me.languageHint': 'Zahlen und Daten richten sich nach der Region des Browsers.',
  'me.lastDay': 'Letzter Tag',
  'me.lifetime.30': '30 Tage',
  'me.lifetime.365': '1 Jahr',
  'me.lifetime.7': '7 Tage',
  'me.lifetime.90': '90 Tage',
  'me.lifetime.day': 'An einem Tag …',
  'me.lifetime.never': 'Nie',
  'me.marked': (count) =>
    count === 0
      ? 'Keine Benachrichtigung war ungelesen'
      : plural(count, {
          one: '# Benachrichtigung als gelesen markiert',
          other: '# Benachrichtigungen als gelesen markiert',
        }),
  'me.markedPartly': (count) =>
    `${plural(count, { one: '# Benachrichtigung als gelesen markiert', other: '# Benachrichtigungen als gelesen markiert' })}. Einige sind noch ungelesen: Wiederholen Sie den Vorgang.`,
  'me.neverHint':
    'Ein Token ohne Ende gilt, bis Sie es widerrufen. Wählen Sie besser ein Ende und erneuern Sie das Token rechtzeitig.',
  'me.newToken': 'Neues Token',
  'me.noTokenMatchHint': 'Der Filter blendet alle Ihre Token aus.',
  'me.noTokens': 'Noch keine Token',
  'me.noTokensHint':
    'Skripte und Kommandozeilenprogramme melden sich mit einem persönlichen Zugriffstoken an. Es handelt in Ihrem Namen, mit allen Ihren Rollen.',
  'me.preferencesHint':
    'Dieser Browser merkt sich beide Einstellungen. Andere Browser behalten ihre eigenen.',
  'me.profile': 'Profil',
  'me.profileHint': 'Ihr Name und Ihre E-Mail-Adresse stammen aus der Anmeldung Ihrer Organisation.',
  'me.searchTokens': 'Name des Tokens',
  'me.show.any': 'alle',
  'me.show.revoked': 'widerrufen',
  'me.show.valid': 'nicht widerrufen',
  'me.tab.access': 'Mein Zugriff',
  'me.tab.account': 'Konto',
  'me.tab.inbox': 'Benachrichtigungen',
  'me.tab.preferences': 'Oberfläche',
  'me.tab.tokens': 'Zugriffstoken',
  'me.themeHint': 'Hell, dunkel oder wie auf Ihrem Gerät eingestellt.',
  'me.tokenCreated': (name) => `Token ${name}`,
  'me.tokenNameHint': 'Wo das Token verwendet wird, zum Beispiel „Deploy-Skript auf build-2“.',
  'me.tokenUseHint':
    'Senden Sie es im Header Authorization als Bearer-Token. Anfragen damit handeln in Ihrem Namen.',
  'me.userHint': 'Ihre Rollen entscheiden, was Sie dürfen.',

  // token
  'token.created': 'Erstellt',
  'token.deleteHint':
    'Anfragen mit dem Token werden sofort abgelehnt, und es verschwindet aus allen Listen. Sie können dies nicht rückgängig machen. Das Audit-Protokoll bleibt.',
  'token.deleteTitle': (name) => `Token ${name} löschen?`,
  'token.expires': 'Läuft ab',
  'token.expiresIn': (days) =>
    days === 0 ? 'Läuft heute ab' : plural(days, { one: 'Läuft in # Tag ab', other: 'Läuft in # Tagen ab' }),
  'token.id': 'Token-Kennung',
  'token.lastUsed': 'Zuletzt benutzt',
  'token.name': 'Name',
  'token.noMatch': 'Kein Token passt',
  'token.notFound': 'Dieses Token gibt es nicht',
  'token.notFoundHint': 'Es wurde gelöscht oder gehört einer anderen Person.',
  'token.one': 'Token',
  'token.recentUse': (time) =>
    `Das Token wurde zuletzt ${time} benutzt. Ersetzen Sie es vorher bei seinen Clients.`,
  'token.revoke': 'Widerrufen',
  'token.revokedToast': (name) => `${name} wurde widerrufen`,
  'token.revokeHint':
    'Anfragen mit dem Token werden sofort abgelehnt. Sie können dies nicht rückgängig machen. Das Token bleibt als widerrufen in den Listen.',
  'token.revokeTitle': (name) => `Token ${name} widerrufen?`,
  'token.state.active': 'Aktiv',
  'token.state.expired': 'Abgelaufen',
  'token.state.revoked': 'Widerrufen',
  'token.status': 'Status',
}
