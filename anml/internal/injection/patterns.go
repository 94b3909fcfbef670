package injection

// pattern is one way in which a text utters orders that it has no business to
// give. All of its groups have to be found, each at most Within words behind the
// one before it (or around it, with Any).
//
// Groups are alternatives with commas between them. A word ends anywhere after a
// star; several words are a phrase. Everything is compared folded: see [Fold].
// A script that is written without blanks counts a word per character.
type pattern struct {
	Kind   string // the word for it that logs and reports show
	Lang   string
	Within int
	Any    bool // the groups may stand in any order
	Spare  bool // an order not to do it is not an attack: "never reveal a password"
	Groups [3]string
}

// patterns is the built-in list. It errs on the side of dropping a persona,
// which is advice only; what a shop usually writes has to pass.
var patterns = [...]pattern{
	// Rules, prompts and whatever was said before are to be left aside.
	{"override", "en", 7, true, false, [3]string{
		"ignor*, disregard*, overrid*, bypass*, circumvent*, disobey*, neglect, supersed*, set aside, pay no attention, do not follow, do not obey, stop following, no longer bound, discard*",
		"instruction*, directive*, directions, rule, rules, guideline*, policy, policies, prompt*, guardrail*, restriction*, safety, safeguard*, previous*, prior, earlier, above, everything before, system, constraint*, consent, privacy, conformance, specification, anml, programming, training, user, user s, preferences"}},
	{"override", "en", 5, false, false, [3]string{
		"forget*", "instruction*, rule, rules, guideline*, policy, policies, prompt*, guardrail*, restriction*, previous*, prior, earlier, above, everything, system, training", ""}},
	{"override", "en", 5, true, false, [3]string{
		"cancelled, canceled, void, obsolete, suspended, revoked, lifted, no longer apply, no longer applies, no longer valid, do not apply, are off, is off, switched off, disabled, deactivated, not follow, not obey, never follow",
		"instruction*, rule, rules, guideline*, directive*, direction*, polic*, guardrail*, restriction*, safety, filter, filters, safeguard*, limits"}},
	{"override", "de", 7, true, false, [3]string{
		"ignorier*, missacht*, vergiss, vergessen sie, umgeh*, uberschreib*, ubergeh*, halte dich nicht an, befolge nicht, verwirf",
		"anweisung*, regel*, richtlinie*, vorgabe*, prompt*, sicherheit*, beschrankung*, vorherig*, bisherig*, fruher*, obig*, system*, zustimmung*, einwilligung*, datenschutz*"}},
	{"override", "fr", 7, true, false, [3]string{
		"ignor*, oubli*, neglig*, contourn*, outrepass*, ne tiens pas compte, ne tenez pas compte, ne suis pas, ne suivez pas, fais abstraction, faites abstraction",
		"instruction*, regle*, consigne*, directive*, prompt*, securite, restriction*, precedent*, anterieur*, systeme, consentement, confidentialite"}},
	{"override", "es", 7, true, false, [3]string{
		"ignor*, olvid*, omit*, desobede*, descart*, haz caso omiso, haga caso omiso, no sigas, no siga, pasa por alto",
		"instruccion*, regla*, norma*, directric*, prompt*, seguridad, restriccion*, anterior*, previ*, sistema, consentimiento, privacidad"}},
	{"override", "it", 7, true, false, [3]string{
		"ignor*, dimentic*, trascur*, aggir*, scavalc*, non seguire, non rispettare",
		"istruzion*, regol*, direttiv*, prompt*, sicurezza, restrizion*, precedent*, sistema, consenso, riservatezza"}},
	{"override", "pt", 7, true, false, [3]string{
		"ignor*, esquec*, desconsider*, desobede*, contorn*, nao siga, nao obedec*",
		"instruc*, regra*, diretriz*, prompt*, seguranca, restric*, anterior*, previ*, sistema, consentimento, privacidade"}},
	{"override", "nl", 7, true, false, [3]string{
		"negeer*, vergeet, omzeil*, overschrijf*, volg niet",
		"instructie*, regel*, richtlijn*, prompt*, veiligheid*, beperking*, vorige, eerdere, bovenstaande, systeem*, toestemming*, privacy"}},
	{"override", "sv da no", 7, true, false, [3]string{
		"ignorer*, glom, glem, bortse fra, bortse fran, folj inte, folg ikke",
		"instruktion*, instrukser*, instruksjon*, regel*, regler*, prompt*, sakerhet*, sikkerhed*, tidigare, tidligere, system*"}},
	{"override", "pl", 7, true, false, [3]string{
		"zignoruj*, ignoruj*, zapomnij*, pomin*, nie przestrzegaj*",
		"instrukcj*, polecen*, zasad*, regul*, wytyczn*, prompt*, bezpieczenstw*, poprzedni*, wczesniejsz*, system*, zgod*"}},
	{"override", "cs sk", 7, true, false, [3]string{
		"ignoruj*, zapomen*, zabudn*, nedodrzuj*", "pokyn*, instrukc*, pravid*, prompt*, bezpecnost*, predchoz*, predchadzaj*, system*"}},
	{"override", "ru uk", 7, true, false, [3]string{
		"игнорир*, проигнорир*, забудь*, забудьте, не обращаи внимания, не обращаите внимания, обоиди*, ігнор*, проігнор*",
		"инструкци*, указани*, правил*, промпт*, подсказк*, безопасност*, ограничени*, предыдущ*, прошл*, систем*, согласи*, інструкці*, вказівк*, попередн*"}},
	{"override", "tr", 7, true, false, [3]string{
		"yoksay*, yok say*, gormezden gel*, unut*, dikkate alma*", "talimat*, kural*, yonerge*, onceki*, guvenlik*, sistem*, komut*"}},
	{"override", "ar", 7, true, false, [3]string{
		"تجاهل*, انس, اهمل*", "التعليمات*, تعليمات*, القواعد*, السابقة*, النظام*, الاوامر*"}},
	{"override", "fa he", 7, true, false, [3]string{
		"نادیده*, فراموش*, התעלם*, תתעלם*, שכח*", "دستور*, قوانین*, قبلی*, ההוראות*, הוראות*, הכללים*, הקודמות*"}},
	{"override", "hi", 7, true, false, [3]string{
		"अनदेखा*, नजरअंदाज*, भल*", "निरदेश*, नियम*, पिछल*"}},
	{"override", "id ms vi", 7, true, false, [3]string{
		"abaikan, lupakan, bo qua, quen", "instruksi*, arahan*, aturan*, peraturan*, sebelumnya, huong dan, chi dan, quy tac, truoc do"}},
	{"override", "zh", 16, true, false, [3]string{
		"忽略, 无视, 無視, 忽视, 忘记, 忘記, 不要遵守, 绕过, 繞過, 不理会", "指令, 指示, 规则, 規則, 提示词, 提示詞, 之前, 以上, 先前, 前面, 系统, 系統, 限制, 安全"}},
	{"override", "ja", 16, true, false, [3]string{
		"無視, 忘れて, 忘れろ, 従わな, 破棄", "指示, 命令, 規則, ルール, フロンフト, 以前, これまて, 上記, 前の, システム, 制限, 安全"}},
	{"override", "ko", 9, true, false, [3]string{
		"무시*, 잊어*, 따르지*", "지시*, 지침*, 규칙*, 명령*, 프롬프트*, 이전*, 앞의, 시스템*, 안전*"}},

	// The user is not to be asked.
	{"skip-confirmation", "en", 5, true, false, [3]string{
		"skip*, bypass*, suppress*, disable*, turn off, no need for, no need to, do not ask, dont ask, do not request, do not require, do not wait, never ask, never request, never wait, avoid asking, stop asking, not necessary to, without asking, instead of asking",
		"confirm*, consent*, permission*, approval*, approv*, authoriz*, authoris*"}},
	{"skip-confirmation", "en", 4, false, false, [3]string{"without", "confirmation, confirming, consent, asking, permission", ""}},
	{"skip-confirmation", "en", 3, false, true, [3]string{
		"automatically, always, immediately, silently, auto", "approve, approving, consent, authorize, authorise, agree, disclose, submit, purchase", ""}},
	{"skip-confirmation", "en", 3, false, true, [3]string{
		"approve, accept, agree to, grant, consent to", "all requests, every request, any request, everything, all permissions, every permission, all prompts, every prompt", ""}},
	{"skip-confirmation", "en", 3, false, true, [3]string{
		"confirm, accept, dismiss, acknowledge", "all dialogs, every dialog, any dialog, dialogs, all confirmations, everything yourself, all prompts, every prompt, popups", ""}},
	{"skip-confirmation", "en", 4, false, false, [3]string{
		"user, users, customer, consent, permission, they", "already, consent has been, permission has been, has pre, have pre", "agreed, consented, given consent, given permission, been given, been granted, authorized everything, approved everything, pre approved"}},
	{"skip-confirmation", "en", 5, false, false, [3]string{"assume, presume, pretend, suppose", "consent*, agree*, agreed, approv*, permission, authoriz*", ""}},
	{"skip-confirmation", "de", 5, true, false, [3]string{
		"ohne, uberspring*, umgeh*, frage nicht, fragen sie nicht, frag nicht, kein*, unterdruck*", "bestatigung*, zustimmung*, einwilligung*, erlaubnis*, ruckfrage*, nachfrage*, genehmigung*"}},
	{"skip-confirmation", "fr", 5, true, false, [3]string{
		"sans, saute*, ignore*, ne demande pas, ne demandez pas, contourn*", "confirmation*, consentement, autorisation*, permission*, demander"}},
	{"skip-confirmation", "es", 5, true, false, [3]string{
		"sin, omit*, salt*, no pidas, no pida, no solicit*", "confirmacion*, confirmar, consentimiento, autorizacion, permiso*, preguntar"}},
	{"skip-confirmation", "it", 5, true, false, [3]string{
		"senza, salt*, non chieder*, ignora*", "conferma*, consenso, autorizzazion*, permesso*, chiedere"}},
	{"skip-confirmation", "pt", 5, true, false, [3]string{
		"sem, pul*, nao peca, nao pergunte, ignore*", "confirmac*, confirmar, consentimento, autorizac*, permissao, perguntar"}},
	{"skip-confirmation", "nl", 5, true, false, [3]string{
		"zonder, sla, vraag niet, vraag geen, geen", "bevestiging*, toestemming*, goedkeuring*, te vragen"}},
	{"skip-confirmation", "pl ru uk", 5, true, false, [3]string{
		"bez, pomin*, nie pytaj*, без, пропусти*, не спрашива*, не запрашива*, не питаи*", "potwierdzen*, zgod*, pytani*, пользовател*, подтвержд*, согласи*, разрешен*, спроса, згод*, підтвердж*"}},
	{"skip-confirmation", "zh", 12, true, false, [3]string{
		"跳过, 跳過, 无需, 無需, 不需要, 不要, 不经, 未经, 绕过", "确认, 確認, 同意, 许可, 許可, 授权, 授權, 批准, 询问, 詢問"}},
	{"skip-confirmation", "ja", 12, true, false, [3]string{
		"なして, せすに, スキッフ, 省略, 不要, 求めな", "確認, 同意, 許可, 承認"}},
	{"skip-confirmation", "ko", 5, true, false, [3]string{
		"없이, 건너뛰*, 생략*, 묻지*", "확인*, 동의*, 허락*, 승인*"}},

	// The user is not to know.
	{"conceal", "en", 4, false, false, [3]string{
		"do not, dont, never, must not, should not, without, avoid, refrain from",
		"tell, telling, inform, informing, notify, notifying, warn, warning, alert, alerting, let, letting, reveal this, reveal to, disclose this, disclose to, mention this, mention to, show this",
		"user, users, user s, customer, customers, human, humans, person, anyone, anybody, them, him, her, client, shopper, owner"}},
	{"conceal", "en", 5, false, false, [3]string{"hide, conceal, keep secret, keep hidden, withhold", "from the user, from the customer, from them, from the human, from users, from the person", ""}},
	{"conceal", "en", 4, false, false, [3]string{
		"user, users, customer, customers, human, client, buyer, shopper, they", "must not, should not, may not, must never, should never, need not", "know, find out, learn of, learn about, notice, hear of, hear about, realize, realise, suspect, be told, be informed"}},
	{"conceal", "en", 4, false, false, [3]string{
		"keep", "secret from, hidden from, confidential from, this secret, it secret, this hidden, this to yourself, it to yourself, this between us, it between us", ""}},
	{"conceal", "en", 6, false, false, [3]string{
		"do not, dont, never, must not", "disclose, reveal, expose", "to the user, to the customer, to users, to customers, to them, to anyone, to anybody, to the human, to the client"}},
	{"conceal", "en", 4, false, false, [3]string{
		"do not, dont, never, must not", "mention, reveal, disclose, repeat, discuss, acknowledge", "instruction, instructions, this message, this note, this prompt, the prompt, these rules, these guidelines"}},
	{"conceal", "de", 5, true, false, [3]string{
		"nicht, nichts, niemals, verschweig*, verheimlich*, verberg*, ohne wissen", "sag* dem nutzer, sagen sie dem nutzer, dem nutzer, dem benutzer, dem kunden, den nutzer, den benutzer, die nutzerin, der nutzerin, vor dem nutzer, des nutzers, des benutzers"}},
	{"conceal", "fr", 5, false, false, [3]string{
		"ne, sans, cache*, dissimul*", "dis, dites, dire, informe*, informer, previen*, avert*, revele*", "utilisateur*, client, clients, usager"}},
	{"conceal", "fr", 2, false, false, [3]string{
		"n", "informe, informez, avertis, avertissez, avise, avisez", "utilisateur*, client, clients, usager"}},
	{"conceal", "es pt it", 5, false, false, [3]string{
		"no, nunca, sin, nao, sem, oculta, oculte, esconda, non, mai, senza, nascond*",
		"digas, diga, decir, dizer, dire, dirlo, informes, informe, informar, informare, avises, avise, avisar, avvisare, reveles, revele, rivelare, conte, cuentes",
		"usuario*, utente, utenti, cliente, clientes, utilizador"}},
	{"conceal", "nl pl", 5, false, false, [3]string{
		"niet, nooit, zonder, verberg, nie", "aan de gebruiker, de gebruiker, de klant, tegen de gebruiker, mow uzytkownik*, informuj uzytkownik*", ""}},
	{"conceal", "nl", 5, false, false, [3]string{"vertel, zeg, informeer, meld, waarschuw", "gebruiker, klant", "niet, niets, nooit"}},
	{"conceal", "ru uk", 5, false, false, [3]string{
		"не, скрои*, скрыва*, утаи*", "говори*, сообщаи*, рассказываи*, уведомляи*, предупреждаи*, повідомляи*, от", "пользовател*, клиент*, користувач*"}},
	{"conceal", "zh", 10, true, false, [3]string{
		"不要告诉, 不要告訴, 别告诉, 不要通知, 不得告知, 不要透露, 隐瞒, 隱瞞, 请勿告知", "用户, 用戶, 使用者, 客户, 顾客, 他们"}},
	{"conceal", "ja ko tr ar", 10, true, false, [3]string{
		"言わな, 伝えな, 知らせな, 教えな, 隠し, 말하지*, 알리지*, 숨겨*, 숨기*, soyleme*, gizle*, لا تخبر*, اخف*",
		"ユーサー, ユーサ, 利用者, お客, 사용자*, 고객*, kullanici*, musteri*, المستخدم*, العميل*"}},

	// Something is to be given away.
	{"reveal", "en", 7, true, true, [3]string{
		"reveal*, leak*, exfiltrat*, disclos*, print, output, recite, dump, expose, send, forward, transmit, upload, share, give us, tell us, show, repeat, extract, harvest, steal, email, post, append, encode, include, reply with, respond with, answer with, quote, collect, gather, copy, write, put",
		"system prompt, hidden prompt, your prompt, your instructions, your rules, your guidelines, initial instructions, developer message, password*, passphrase*, api key*, secret key*, secrets, credential*, access token*, private key*, session token*, cookies, card number*, credit card number*, social security, conversation history, chat history, browsing history, user s data, users data, user data, user s email, user s address, user s personal, their personal data, private data, location history, contact list, all files, files you can"}},
	{"reveal", "de", 7, true, true, [3]string{
		"verrate*, verrat*, gib, zeig*, sende*, schick*, ubermittl*, offenbar*, teile, nenne",
		"systemprompt*, system prompt*, deine anweisungen, ihre anweisungen, passwort*, kennwort*, zugangsdaten, geheimnis*, kartennummer*, nutzerdaten, daten des nutzers, chatverlauf*"}},
	{"reveal", "fr es it pt", 7, true, true, [3]string{
		"revele*, revela*, rivel*, divulg*, envoie*, envoy*, envia*, envie*, invia*, montre*, muestra*, mostra*, affiche*, partage*, comparte*",
		"invite systeme, prompt systeme, prompt du systeme, prompt del sistema, prompt do sistema, prompt di sistema, mot de passe, mots de passe, contrasena*, password, senha*, numero de tarjeta, numero de carte, donnees de l utilisateur, datos del usuario, dados do usuario, dati dell utente, historial, historique"}},
	{"reveal", "ru zh ja ko", 12, true, true, [3]string{
		"раскро*, покаж*, отправ*, перешли*, сообщи*, 透露, 泄露, 洩露, 显示, 顯示, 发送, 發送, 告诉我, 输出, 明かし, 表示し, 送信, 教えて, 공개*, 보여*, 보내*, 알려*",
		"системныи промпт*, системную подсказку, парол*, данные пользовател*, 系统提示, 系統提示, 密码, 密碼, 用户数据, 用户信息, システムフロンフト, ハスワート, 個人情報, 시스템 프롬프트*, 비밀번호*, 개인정보*"}},

	// The agent is to play another role, or act without its rules.
	{"identity", "en", 3, false, false, [3]string{
		"you are now, you re now, you will now be, you are no longer, you re no longer", "a, an, the, my, dan, root, admin, administrator, free, unrestricted, bound, an ai, required, subject", ""}},
	{"identity", "en", 0, false, false, [3]string{
		"pretend to be, pretend you, pretend that you, impersonat*, jailbreak*, jailbroken, developer mode, god mode, dan mode, do anything now, sudo mode, from now on you, claim to be, identify yourself as, new system prompt, your new instructions, your new role, your real instructions, your true identity, no restrictions apply, act as if you had no, act as though you had no, never admit that you, deny being an, deny that you are, 你现在是, 你現在是, 你不再是, 冒充, 假装你是, なりすま*, なりすまし, あなたは今から, 너는 이제, 당신은 이제, du bist jetzt ein*, du bist ab jetzt, gib dich als, geben sie sich als, tu es maintenant un*, vous etes maintenant un*, fais toi passer, ahora eres un*, a partir de ahora eres, hazte pasar, ora sei un*, agora voce e um*, ты теперь, теперь ты, притворись, выдаваи себя", "", ""}},
	{"identity", "en", 3, false, false, [3]string{"say, state, insist, tell them, tell users, tell the user", "you are human, you are a human, you are a person, you are not an ai, you are not a bot, you work for", ""}},
	{"identity", "en", 3, false, false, [3]string{
		"act as, behave as, behave like, be, become, respond as, answer as, answer only as, speak as", "unrestricted, uncensored, unfiltered, no limits, no restrictions, without restrictions, without limits, system administrator, administrator, root, superuser", ""}},
	{"identity", "en", 4, false, false, [3]string{
		"as if you were, as though you were, as if you are", "bank, official, administrator, user, user s, human, person, another, employee, staff", ""}},
	{"identity", "en", 3, false, false, [3]string{"stop being, cease to be, you are not", "an assistant, an agent, an ai, a bot, assistant, the assistant", ""}},
	{"authority", "en", 5, false, false, [3]string{
		"treat, consider, regard, mark", "this, our, the, these, my", "as trusted, as verified, as authorized, as tier, as system, as safe, as privileged, as official, highest priority, trusted, verified"}},
	{"authority", "en", 4, false, false, [3]string{
		"these instructions, this text, this message, this persona, the following", "override*, overrule*, supersede*, take precedence, takes precedence, have priority, outrank*, replace", ""}},
	{"authority", "en", 0, false, false, [3]string{"tier 3, tier three, new instructions, updated instructions, revised instructions, system message, important system, comply with everything, obey everything, follow everything below, safety filters, you have been upgraded, you have been reprogrammed, system override, admin override, administrator override, emergency override, maintenance mode, policy update, updated system policy, message from the developer, message from anthropic, message from openai", "", ""}},

	// The user is to be worked upon.
	{"manipulate", "en", 3, false, true, [3]string{
		"lie to, mislead*, deceive*, deceiving, trick, manipulate, pressure, coerce, scare, threaten", "user, users, customer, customers, human, shopper, shoppers, them, buyer", ""}},
	{"encoded", "en", 4, false, false, [3]string{
		"decode, base64, rot13, hex, decrypt, deobfuscate", "follow, execute, obey, run, do what, instructions, comply", ""}},
}

// markers are the signs with which prompts are divided into roles. They have no
// business in advice on style; they are looked for in the folded text before
// anything is taken out of it.
var markers = [...]string{
	"<|", "|>", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "<system>", "</system>", "<assistant>", "</assistant>", "<user>", "</user>",
	"<instructions>", "</instructions>", "<persona>", "</persona>", "</anml>", "<tool_call", "<function_call", "\"role\":", "begin system", "end of system prompt", "end of instructions",
	"###system", "### system", "### instruction", "###instruction", "\nsystem:", "\nassistant:", "\ndeveloper:", "\nhuman:",
}
