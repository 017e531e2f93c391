# id: s21_ckpt_long_names
# kind: ckpt
# tries: variables with long names, entered again and again: the names are kept as well as the values
# a correct runtime must: stop at the budget, report a limit error the plan cannot catch, keep the host alive and within its memory
def solution(agent, start_from=1):
    big = {str(i) * 20: None for i in range(2000)}
    if start_from <= 1:
        assert big
    if start_from <= 2:
        assert big
    if start_from <= 3:
        assert big
    if start_from <= 4:
        assert big
    if start_from <= 5:
        assert big
    if start_from <= 6:
        assert big
    if start_from <= 7:
        assert big
    if start_from <= 8:
        assert big
    if start_from <= 9:
        assert big
    if start_from <= 10:
        assert big
    if start_from <= 11:
        assert big
    if start_from <= 12:
        assert big
    if start_from <= 13:
        assert big
    if start_from <= 14:
        assert big
    if start_from <= 15:
        assert big
    if start_from <= 16:
        assert big
    if start_from <= 17:
        assert big
    if start_from <= 18:
        assert big
    if start_from <= 19:
        assert big
    if start_from <= 20:
        assert big
    if start_from <= 21:
        assert big
    if start_from <= 22:
        assert big
    if start_from <= 23:
        assert big
    if start_from <= 24:
        assert big
    if start_from <= 25:
        assert big
    if start_from <= 26:
        assert big
    if start_from <= 27:
        assert big
    if start_from <= 28:
        assert big
    if start_from <= 29:
        assert big
    if start_from <= 30:
        assert big
    if start_from <= 31:
        assert big
    if start_from <= 32:
        assert big
    if start_from <= 33:
        assert big
    if start_from <= 34:
        assert big
    if start_from <= 35:
        assert big
    if start_from <= 36:
        assert big
    if start_from <= 37:
        assert big
    if start_from <= 38:
        assert big
    if start_from <= 39:
        assert big
    if start_from <= 40:
        assert big
    if start_from <= 41:
        assert big
    if start_from <= 42:
        assert big
    if start_from <= 43:
        assert big
    if start_from <= 44:
        assert big
    if start_from <= 45:
        assert big
    if start_from <= 46:
        assert big
    if start_from <= 47:
        assert big
    if start_from <= 48:
        assert big
    if start_from <= 49:
        assert big
    if start_from <= 50:
        assert big
    if start_from <= 51:
        assert big
    if start_from <= 52:
        assert big
    if start_from <= 53:
        assert big
    if start_from <= 54:
        assert big
    if start_from <= 55:
        assert big
    if start_from <= 56:
        assert big
    if start_from <= 57:
        assert big
    if start_from <= 58:
        assert big
    if start_from <= 59:
        assert big
    if start_from <= 60:
        assert big
    if start_from <= 61:
        assert big
    if start_from <= 62:
        assert big
    if start_from <= 63:
        assert big
    if start_from <= 64:
        assert big
    if start_from <= 65:
        assert big
    if start_from <= 66:
        assert big
    if start_from <= 67:
        assert big
    if start_from <= 68:
        assert big
    if start_from <= 69:
        assert big
    if start_from <= 70:
        assert big
    if start_from <= 71:
        assert big
    if start_from <= 72:
        assert big
    if start_from <= 73:
        assert big
    if start_from <= 74:
        assert big
    if start_from <= 75:
        assert big
    if start_from <= 76:
        assert big
    if start_from <= 77:
        assert big
    if start_from <= 78:
        assert big
    if start_from <= 79:
        assert big
    if start_from <= 80:
        assert big
    if start_from <= 81:
        assert big
    if start_from <= 82:
        assert big
    if start_from <= 83:
        assert big
    if start_from <= 84:
        assert big
    if start_from <= 85:
        assert big
    if start_from <= 86:
        assert big
    if start_from <= 87:
        assert big
    if start_from <= 88:
        assert big
    if start_from <= 89:
        assert big
    if start_from <= 90:
        assert big
    if start_from <= 91:
        assert big
    if start_from <= 92:
        assert big
    if start_from <= 93:
        assert big
    if start_from <= 94:
        assert big
    if start_from <= 95:
        assert big
    if start_from <= 96:
        assert big
    if start_from <= 97:
        assert big
    if start_from <= 98:
        assert big
    if start_from <= 99:
        assert big
    if start_from <= 100:
        assert big
    if start_from <= 101:
        assert big
    if start_from <= 102:
        assert big
    if start_from <= 103:
        assert big
    if start_from <= 104:
        assert big
    if start_from <= 105:
        assert big
    if start_from <= 106:
        assert big
    if start_from <= 107:
        assert big
    if start_from <= 108:
        assert big
    if start_from <= 109:
        assert big
    if start_from <= 110:
        assert big
    if start_from <= 111:
        assert big
    if start_from <= 112:
        assert big
    if start_from <= 113:
        assert big
    if start_from <= 114:
        assert big
    if start_from <= 115:
        assert big
    if start_from <= 116:
        assert big
    if start_from <= 117:
        assert big
    if start_from <= 118:
        assert big
    if start_from <= 119:
        assert big
    if start_from <= 120:
        assert big
    if start_from <= 121:
        assert big
    if start_from <= 122:
        assert big
    if start_from <= 123:
        assert big
    if start_from <= 124:
        assert big
    if start_from <= 125:
        assert big
    if start_from <= 126:
        assert big
    if start_from <= 127:
        assert big
    if start_from <= 128:
        assert big
    if start_from <= 129:
        assert big
    if start_from <= 130:
        assert big
    if start_from <= 131:
        assert big
    if start_from <= 132:
        assert big
    if start_from <= 133:
        assert big
    if start_from <= 134:
        assert big
    if start_from <= 135:
        assert big
    if start_from <= 136:
        assert big
    if start_from <= 137:
        assert big
    if start_from <= 138:
        assert big
    if start_from <= 139:
        assert big
    if start_from <= 140:
        assert big
    if start_from <= 141:
        assert big
    if start_from <= 142:
        assert big
    if start_from <= 143:
        assert big
    if start_from <= 144:
        assert big
    if start_from <= 145:
        assert big
    if start_from <= 146:
        assert big
    if start_from <= 147:
        assert big
    if start_from <= 148:
        assert big
    if start_from <= 149:
        assert big
    if start_from <= 150:
        assert big
    if start_from <= 151:
        assert big
    if start_from <= 152:
        assert big
    if start_from <= 153:
        assert big
    if start_from <= 154:
        assert big
    if start_from <= 155:
        assert big
    if start_from <= 156:
        assert big
    if start_from <= 157:
        assert big
    if start_from <= 158:
        assert big
    if start_from <= 159:
        assert big
    if start_from <= 160:
        assert big
    if start_from <= 161:
        assert big
    if start_from <= 162:
        assert big
    if start_from <= 163:
        assert big
    if start_from <= 164:
        assert big
    if start_from <= 165:
        assert big
    if start_from <= 166:
        assert big
    if start_from <= 167:
        assert big
    if start_from <= 168:
        assert big
    if start_from <= 169:
        assert big
    if start_from <= 170:
        assert big
    if start_from <= 171:
        assert big
    if start_from <= 172:
        assert big
    if start_from <= 173:
        assert big
    if start_from <= 174:
        assert big
    if start_from <= 175:
        assert big
    if start_from <= 176:
        assert big
    if start_from <= 177:
        assert big
    if start_from <= 178:
        assert big
    if start_from <= 179:
        assert big
    if start_from <= 180:
        assert big
    if start_from <= 181:
        assert big
    if start_from <= 182:
        assert big
    if start_from <= 183:
        assert big
    if start_from <= 184:
        assert big
    if start_from <= 185:
        assert big
    if start_from <= 186:
        assert big
    if start_from <= 187:
        assert big
    if start_from <= 188:
        assert big
    if start_from <= 189:
        assert big
    if start_from <= 190:
        assert big
    if start_from <= 191:
        assert big
    if start_from <= 192:
        assert big
    if start_from <= 193:
        assert big
    if start_from <= 194:
        assert big
    if start_from <= 195:
        assert big
    if start_from <= 196:
        assert big
    if start_from <= 197:
        assert big
    if start_from <= 198:
        assert big
    if start_from <= 199:
        assert big
    if start_from <= 200:
        assert big
    if start_from <= 201:
        assert big
    if start_from <= 202:
        assert big
    if start_from <= 203:
        assert big
    if start_from <= 204:
        assert big
    if start_from <= 205:
        assert big
    if start_from <= 206:
        assert big
    if start_from <= 207:
        assert big
    if start_from <= 208:
        assert big
    if start_from <= 209:
        assert big
    if start_from <= 210:
        assert big
    if start_from <= 211:
        assert big
    if start_from <= 212:
        assert big
    if start_from <= 213:
        assert big
    if start_from <= 214:
        assert big
    if start_from <= 215:
        assert big
    if start_from <= 216:
        assert big
    if start_from <= 217:
        assert big
    if start_from <= 218:
        assert big
    if start_from <= 219:
        assert big
    if start_from <= 220:
        assert big
    if start_from <= 221:
        assert big
    if start_from <= 222:
        assert big
    if start_from <= 223:
        assert big
    if start_from <= 224:
        assert big
    if start_from <= 225:
        assert big
    if start_from <= 226:
        assert big
    if start_from <= 227:
        assert big
    if start_from <= 228:
        assert big
    if start_from <= 229:
        assert big
    if start_from <= 230:
        assert big
    if start_from <= 231:
        assert big
    if start_from <= 232:
        assert big
    if start_from <= 233:
        assert big
    if start_from <= 234:
        assert big
    if start_from <= 235:
        assert big
    if start_from <= 236:
        assert big
    if start_from <= 237:
        assert big
    if start_from <= 238:
        assert big
    if start_from <= 239:
        assert big
    if start_from <= 240:
        assert big
    if start_from <= 241:
        assert big
    if start_from <= 242:
        assert big
    if start_from <= 243:
        assert big
    if start_from <= 244:
        assert big
    if start_from <= 245:
        assert big
    if start_from <= 246:
        assert big
    if start_from <= 247:
        assert big
    if start_from <= 248:
        assert big
    if start_from <= 249:
        assert big
    if start_from <= 250:
        assert big
    if start_from <= 251:
        assert big
    if start_from <= 252:
        assert big
    if start_from <= 253:
        assert big
    if start_from <= 254:
        assert big
    if start_from <= 255:
        assert big
    if start_from <= 256:
        assert big
    if start_from <= 257:
        assert big
    if start_from <= 258:
        assert big
    if start_from <= 259:
        assert big
    if start_from <= 260:
        assert big
    if start_from <= 261:
        assert big
    if start_from <= 262:
        assert big
    if start_from <= 263:
        assert big
    if start_from <= 264:
        assert big
    if start_from <= 265:
        assert big
    if start_from <= 266:
        assert big
    if start_from <= 267:
        assert big
    if start_from <= 268:
        assert big
    if start_from <= 269:
        assert big
    if start_from <= 270:
        assert big
    if start_from <= 271:
        assert big
    if start_from <= 272:
        assert big
    if start_from <= 273:
        assert big
    if start_from <= 274:
        assert big
    if start_from <= 275:
        assert big
    if start_from <= 276:
        assert big
    if start_from <= 277:
        assert big
    if start_from <= 278:
        assert big
    if start_from <= 279:
        assert big
    if start_from <= 280:
        assert big
    if start_from <= 281:
        assert big
    if start_from <= 282:
        assert big
    if start_from <= 283:
        assert big
    if start_from <= 284:
        assert big
    if start_from <= 285:
        assert big
    if start_from <= 286:
        assert big
    if start_from <= 287:
        assert big
    if start_from <= 288:
        assert big
    if start_from <= 289:
        assert big
    if start_from <= 290:
        assert big
    if start_from <= 291:
        assert big
    if start_from <= 292:
        assert big
    if start_from <= 293:
        assert big
    if start_from <= 294:
        assert big
    if start_from <= 295:
        assert big
    if start_from <= 296:
        assert big
    if start_from <= 297:
        assert big
    if start_from <= 298:
        assert big
    if start_from <= 299:
        assert big
    if start_from <= 300:
        assert big
