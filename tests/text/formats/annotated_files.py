"""Small files of texts with more than words, in forms that people publish or export, with own words.

The name, the content, a part of the message with which it is refused, and the first sentence of what the command in
that message writes; None: it has no command.
"""


def _messages(form: str, *said: str) -> str:
    """`form` has {n} for the minute, {who} and {said}; a message of two lines goes on without time and name."""
    return "".join(form.format(n=21 + n, who=("Ann", "Bo B")[n % 2], said=it) + "\n" for n, it in enumerate(said))


_SAID = ("rain fell: much", "Photo", "where?\nat home", "😀 ok")
_KAKAO = "앤 님과 카카오톡 대화\n저장한 날짜 : "
_KLUE = "## 토큰, 레이블 구분자 : \\t\n## 주석 : ##\n## 칼럼명 : {}\n## klue-{}\t{}\n{}\n## klue-{}\t비.\n비\tO\n.\tO\n"
_CCG = (
    "ID=a.1 PARSER=GOLD NUMPARSE=1\n"
    "(<T S[dcl] 1 2> (<T NP 0 1> (<L N NNP NNP Rain N>) ) (<T S[dcl]\\NP 0 2> "
    "(<L (S[dcl]\\NP)/NP VBD VBD fell (S[dcl]\\NP_2)/NP_3 {fall.01}>) (<L . . . . .>) ) ) \n"
)

ANNOTATED: dict[str, tuple[str, str, str, str | None]] = {
    "KakaoTalk, Android": (
        "kakao.txt",
        f"{_KAKAO}2023년 5월 1일 오후 3:21\n\n\n2023년 4월 30일 오후 3:21\n"
        + _messages("2023년 4월 30일 오후 3:{n}, {who} : {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "KakaoTalk, iOS": (
        "kakao.txt",
        f"{_KAKAO}2023. 5. 1. 오후 3:21\n\n2023년 4월 30일 일요일\n2023. 4. 30. 오후 3:20: 앤님이 들어왔습니다.\n"
        + _messages("2023. 4. 30. 오후 3:{n}, {who} : {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "KakaoTalk, Windows": (
        "kakao.txt",
        f"{_KAKAO}2023-05-01 15:21:10\n\n--------------- 2023년 4월 30일 일요일 ---------------\n"
        + _messages("[{who}] [오후 3:{n}] {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "KakaoTalk in English": (
        "kakao.txt",
        "KakaoTalk Chats with Ann\nDate Saved : Apr 30, 2023, 3:21 PM\n\nApr 30, 2023, 3:21 PM\n"
        + _messages("April 30, 2023 at 3:{n}\u202fPM, {who} : {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "KakaoTalk without its head": (
        "kakao.txt",
        _messages("[{who}] [3:{n} PM] {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "Telegram, copied": (
        "telegram.txt",
        "Ann, [30.04.23 15:21]\n[ Photo ]\n\nBo B, [30.04.23 15:22]\n[In reply to Ann]\nrain fell: much\n\n"
        "Ann, [30.04.23 15:25]\nok\n",
        "messages of a chat",
        "rain fell: much",
    ),
    "Telegram, copied in Korean": (
        "telegram.txt",
        "앤, [30. 4. 2023 오후 3:21]\n비가 왔다\n\n보, [30. 4. 2023 오후 3:22]\n그래\n",
        "messages of a chat",
        "비가 왔다",
    ),
    "IRC of irssi": (
        "irc.log",
        "--- Log opened Sun Apr 30 15:21:10 2023\n15:21 -!- ann [~ann@host] has joined #x\n15:21 < ann> rain fell\n",
        "a log of IRC",
        "rain fell",
    ),
    "IRC, without its beginning": (
        "irc.log",
        "[15:21] <ann> rain fell\n[15:22] <bo> where?\n[15:22] * ann smiles\n[15:23] <ann> home\n",
        "a log of IRC",
        "rain fell",
    ),
    "IRC with a channel": (
        "irc.log",
        "=== ann [~ann@host] has joined #ubuntu\n<ann> rain fell\n<bo> hello there\n",
        "a log of IRC",
        "rain fell",
    ),
    "IRC without times": (
        "irc.log",
        "<ann> rain fell\n<bo> where?\n* ann smiles\n<ann> at home , I think\n<bo> ok\n",
        "a log of IRC",
        "rain fell",
    ),
    "Newick": ("a.nwk", "(A,B,(C,D)E)F;\n", "trees in Newick", None),
    "Newick with lengths": (
        "a.nwk",
        "(Human:0.1,Chimp:0.2,(Gorilla:0.3,Orang:0.4)0.99:0.5);\n",
        "trees in Newick",
        None,
    ),
    "Newick with names in quotes": (
        "a.nwk",
        "(('Homo sapiens':1,'Pan troglodytes':1)95:2,\n 'Gorilla gorilla':3);\n",
        "trees in Newick",
        None,
    ),
    "PHYLIP": (
        "a.phy",
        "3 12\nhuman ACGTACGTACGT\nchimp ACGTACGTACGA\nmouse ACGTACGTAC-A\n",
        "PHYLIP",
        None,
    ),
    "PHYLIP in blocks": (
        "a.phy",
        "   2    42\nTurkey    AAGCTNGGGC ATTTCAGGGT\nSalmo gairAAGCCTTGGC AGTGCAGGGT\n\nGAGCCCGGGC AATACAGGGT AT\n"
        "GAGCCGTGGC CGGGCACGGT AT\n",
        "PHYLIP",
        None,
    ),
    "distances of PHYLIP": (
        "a.phy",
        "    3\nAlpha      0.000 1.000 2.000\nBeta       1.000 0.000 2.000\nGamma      2.000 2.000 0.000\n",
        "numbers",
        None,
    ),
    "WhatsApp, Android": (
        "whatsapp.txt",
        "30.04.23, 15:20 - Messages and calls are encrypted.\n" + _messages("30.04.23, 15:{n} - {who}: {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "WhatsApp, iOS": (
        "whatsapp.txt",
        _messages("\u200e[4/30/23, 3:{n}:10\u202fPM] {who}: {said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "LINE": (
        "line.txt",
        "[LINE] Chat history with Ann\nSaved on: 2023/04/30, 15:21\n\nSun, 04/30/2023\n"
        + _messages("15:{n}\t{who}\t{said}", *_SAID),
        "messages of a chat",
        "rain fell: much",
    ),
    "Switchboard": (
        "sw1.utt",
        "*x*  *x*\nFILENAME:  1_2\nTOPIC#:  3\n====\n\nsd          A.1 utt1: {D So, } rain [ fall, + fell ]. /\n"
        "b          @B.2 utt1: <Laughter> Yeah. /\n",
        "a transcript of Switchboard",
        "So, rain fall, fell .",
    ),
    "Switchboard, turns": (
        "sw1.dff",
        "A.1:  Rain fell, -/\n\nB.2:  Yes.  /\n",
        "a transcript of Switchboard",
        "Rain fell,",
    ),
    "CCGbank": ("wsj.auto", _CCG, "derivations of CCGbank", "Rain fell ."),
    "Flickr30k": (
        "results.token",
        "".join(f"9{n}.jpg#{n}\tRain fell{' again' * n} .\n" for n in range(5)),
        "a table with tabs .*--format tsv --field 2",
        None,
    ),
    "Floresta": (
        "floresta.ptb",
        "####\n#A treebank\n####\n\n#1 A1-1 Chuva\n(UTT+np (>N+art A)\n        (H+n chuva)\n"
        "        (N<+adj fria)\n        (.))\n\n#2 A1-2 Ela\n(STA+fcl (SUBJ+np (H+pron Ela)))\n",
        "trees in brackets",
        "A chuva fria .",
    ),
    "Sinica": (
        "sinica",
        "#1:1.[9] S(agent:NP(property:N‧的(head:Nhaa:她|Head:DE:的)|Head:Nab:書)|Head:VC2:看)#。(PERIODCATEGORY)\n",
        "trees of Sinica",
        "她 的 書 看 。",
    ),
    "reviews of customers": (
        "reviews.txt",
        "****\n* See Readme.txt\n****\n\n[t]\n[t] rain gauge \n##i got it . \n"
        "size[+2], use[-1][u]##small ##and easy . \n",
        "reviews with marks",
        "rain gauge",
    ),
    "CRFsuite": (
        "ner.crfsuite",
        "O\tw[0]=Rain\tw[1]=fell\t__BOS__\nO\tw[-1]=Rain\tw[0]=fell\n\nO\tw[0]=Yes\n",
        "features of CRFsuite",
        "Rain fell",
    ),
    "NEXUS": ("a.nex", "#NEXUS\nBEGIN TAXA;\nTAXLABELS A B;\nEND;\n", "NEXUS .*FASTA first", None),
    "SAM": (
        "a.sam",
        "@HD\tVN:1.6\n@SQ\tSN:c1\tLN:90\nr1\t0\tc1\t1\t60\t4M\t*\t0\t0\tACGT\tIIII\n",
        "SAM .*FASTA",
        None,
    ),
    "SAM without its head": ("b.sam", "r1\t0\tc1\t1\t60\t2S4M\t*\t0\t0\tACGTAA\tIIIIII\tNM:i:1\n", "SAM .*FASTA", None),
    "GFF": ("a.gff", "##gff-version 3\nc1\t.\tgene\t1\t9\t.\t+\t.\tID=g1;Name=a b\n", "features of a genome", None),
    "KLUE, dependencies": (
        "klue-dp.tsv",
        _KLUE.format("INDEX\tWORD_FORM", "dp_0", "안나가 왔다.", "1\t안나가\t안나 가\n2\t왔다.\t오 았 다 .\n", "dp_1"),
        "KLUE's columns",
        "안나가 왔다.",
    ),
    "KLUE, names": (
        "klue-ner.tsv",
        _KLUE.format("CHAR\tNE_TAG", "ner_0", "<안나:PS>가 <로마:LC>로", "안\tB-PS\n나\tI-PS\n \tO\n로\tO\n", "ner_1"),
        "KLUE's columns",
        "안나가 로마로",
    ),
    "WebAnno": (
        "webanno.tsv",
        "#FORMAT=WebAnno TSV 3.2\n#T_SP=webanno.custom.X|a\n\n\n#Text=Rain fell.\n"
        "1-1\t0-4\tRain\tX\n1-2\t5-9\tfell\t_\n",
        "WebAnno TSV 3",
        "Rain fell.",
    ),
}

ORDINARY = [
    "At 10:30, Ann : came .\nRain fell at 3:21 PM, and we left : late .\nIt was 2023 .\n",
    "[Ann] [laughs] Rain fell .\n[Bo] [at 3:21] Yes .\n[Ann] No .\n",
    "On 30 April 2023 at 15:21, Ann wrote: rain fell .\nBo read it .\nCy left it .\n",
    "Answers\nA.1: see page 3\nIt is late .\nWe left .\n",
    "# Title\n\n## Part\n\nRain fell .\n\n## klue and others\n",
    "(see (A) and (B))\nID=3 is Ann .\nHead: Ann\n#1: rain\n",
    "S(x) is a set .\nNP (and P) differ .\n@HD is a name\n",
    "".join(f"{1970 + 4 * n}년 비가 {'또 ' * n}왔다 .\n" for n in range(6)),
    # One line, or most lines, that begin as a message, a turn or a file does.
    "On 3 May 2023 at 10:30, the minister said: go home .\n",
    "2023. 4. 30. 오후 3:21, 서울시는 이렇게 밝혔다: 비가 온다 .\n",
    "In the 1st and 2nd half, at 10:30, Ann said: run .\n2 Cor. 4 and 1 Cor. 4:16, Paul says: love .\n",
    "Monday 1 May 2023 20:15 - News: the day\nTuesday 2 May 2023 20:15 - News: all\n",
    "Figure A.1: rain fell .\nTable B.2: rain fell again .\n",
    "A.1: rain\nA.2: sun\nB.1: snow\n",
    "#NEXUS is down again !\nI hate it .\n",
    "@Begin the day with a smile\nRain fell .\n",
    "[LINE] is for messages .\nI read them at 3:21 .\n",
    "NP(agent) has Head:A .\n",
    "## klue-like tests are good\nRain fell .\n",
    "[t] is a type\n## More on types\nRain fell .\n",
    "__label__ is what labels begin with .\n",
    "- 2023-04-30: rain fell .\n- 2023-05-01: sun .\n- 2023-05-02: rain .\n",
]
"""Sentences that have a little of these forms."""
